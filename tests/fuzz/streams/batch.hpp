// Many cases in one dispatch: a program of some instructions, thousands of lanes with their own
// values, compared with the oracle bit for bit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "tests/fuzz/streams/model.hpp"

namespace lanewise::fuzz {

/// The bytes of both regions before any access, always the same.
const std::vector<uint8_t>& noise();

/// How an engine runs a batch.
struct Mode {
  Memcheck check = Memcheck::arena;
  WaveMode wave = WaveMode::automatic;
};

/// One wave on which one instruction goes wrong, or might: everything a script of it needs.
struct Repro {
  Setting setting;
  Mode mode;
  InstructionPtr code;
  std::vector<Lane> wave;
  std::map<uint64_t, uint8_t> bytes;  ///< memory that matters; all other bytes are zero
};

class Batch {
 public:
  Batch(const Family& family, uint64_t seed, unsigned waves, const Mode& mode);
  uint64_t cases() const { return cases_; }
  /// How many of them reach memory, and how many fault.
  uint64_t reaching() const { return reaching_; }
  uint64_t faulting() const { return faulting_; }
  /// Runs on one engine. Nothing, or what is wrong in words and where to look for it.
  struct Mismatch {
    std::string what;
    std::vector<Repro> suspects;  ///< most likely first
  };
  std::optional<Mismatch> run(Engine& engine);
  std::string text() const;

 private:
  struct Compiled;
  void fill(Random& random, unsigned place);
  bool settle(unsigned place, size_t thread, const Effect& e);
  size_t threads() const { return size_t{waves_} * block_; }
  const ir::Program& program();
  std::vector<uint64_t> records() const;
  LaunchRequest request(std::span<std::byte> record);
  Repro suspect(unsigned place, size_t thread) const;
  Mismatch mismatch(const std::string& what, std::optional<unsigned> place, size_t thread) const;
  std::optional<Mismatch> compare_registers(const std::vector<uint64_t>& got) const;
  std::optional<Mismatch> compare_memory(const std::vector<uint8_t>& got) const;
  std::optional<Mismatch> compare_faults(const LaunchResult& got) const;

  struct Fault {
    FaultKind kind = FaultKind::none;
    uint64_t address = 0;
    unsigned place = 0;
  };
  Setting setting_;
  Mode mode_;
  std::vector<InstructionPtr> code_;
  unsigned waves_, block_;
  bool partial_ = false;
  uint64_t cases_ = 0, reaching_ = 0, faulting_ = 0;
  std::vector<std::vector<Lane>> lanes_;                  ///< [place][thread]
  std::vector<std::vector<std::vector<uint64_t>>> outs_;  ///< the same, expected
  std::vector<Fault> faults_;                             ///< of each thread
  std::vector<uint8_t> memory_;                           ///< expected
  std::vector<uint32_t> owner_;  ///< of a byte: 1 + place * threads + thread
  std::shared_ptr<Compiled> compiled_;
};

}  // namespace lanewise::fuzz
