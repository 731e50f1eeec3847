// One random instruction, the values it runs on, and what a literal oracle says it does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t next() { return engine_(); }
  uint64_t below(uint64_t n) { return engine_() % n; }
  bool chance(unsigned one_in) { return below(one_in) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// Addresses from here up are far beyond every arena that is used here.
inline constexpr uint64_t kFar = guest::kArenaBase + (uint64_t{1} << 28);
struct Region {
  uint64_t first, size;
  bool holds(uint64_t address, uint64_t bytes) const {
    return address >= first && bytes <= size && address - first <= size - bytes;
  }
};
/// Loads read the one, stores and atomics own bytes of the other.
inline constexpr Region kLoads{guest::kArenaBase, uint64_t{1} << 20};
inline constexpr Region kStores{guest::kArenaBase + (uint64_t{1} << 20), uint64_t{4} << 20};
/// From here up to kFar there is no allocation; what there is of the arena only the check of
/// allocations keeps guests from.
inline constexpr uint64_t kUnallocated = kStores.first + kStores.size;

/// Of one access; the widest has 32.
using Bytes = std::array<uint8_t, 32>;

struct Touch {
  uint64_t address;
  unsigned bytes;
};
/// Guest memory as one lane sees it; remembers what the lane did.
class Memory {
 public:
  using Image = std::function<uint8_t(uint64_t)>;
  explicit Memory(Image image) : image_(std::move(image)) {}
  /// Zeros and a fault when the place is not mapped.
  Bytes load(uint64_t address, unsigned bytes);
  /// Of so many bytes those whose bits are set in `which`.
  void store(uint64_t address, const Bytes& data, unsigned bytes, uint32_t which = ~uint32_t{0});
  /// The lane's first fault is the one that counts.
  void fault(FaultKind kind, uint64_t address);
  /// Where an access faults before it is looked at for alignment.
  static FaultKind verdict(uint64_t address);

  std::vector<Touch> touches;
  std::map<uint64_t, uint8_t> written;
  FaultKind kind = FaultKind::none;
  uint64_t fault_address = 0;
  bool unallocated = false;  ///< an access began between kUnallocated and kFar

 private:
  bool enter(uint64_t address, unsigned bytes);
  Image image_;
};

/// A register: its name in a script, the PTX type it is declared with, its size.
struct Value {
  std::string name, type;
  unsigned bits = 32;
};
/// The state of one lane. The last values are the data registers, which are read back.
struct Lane {
  bool active = true;
  unsigned number = 0;  ///< in its wave
  std::vector<uint64_t> in;
};

/// What a whole program has in common.
struct Setting {
  std::string isa, target;
  std::vector<std::pair<std::string, std::string>> policies;
  unsigned wave = 32;
};

/// One instruction with everything that its text fixes.
class Instruction {
 public:
  virtual ~Instruction() = default;
  /// `place` distinguishes the registers of several instructions of a program.
  virtual std::string text(unsigned place) const = 0;
  virtual std::vector<Value> in(unsigned place) const = 0;
  virtual unsigned outputs() const = 0;
  virtual bool writes() const = 0;
  /// Chooses values for a wave.
  virtual void draw(Random& random, const Region& region, std::span<Lane> wave) const = 0;
  /// Chooses another, tamer access for one lane.
  virtual void redraw(Random& random, const Region& region, std::span<Lane> wave,
                      size_t lane) const = 0;
  virtual void disable(std::span<Lane> wave, size_t lane) const = 0;
  /// The oracle: `out` holds the data registers before and after.
  virtual void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const = 0;
  /// The same access `delta` bytes further on.
  virtual void move(Lane& lane, int64_t delta) const = 0;
  /// The same instruction with less to it.
  virtual std::vector<std::shared_ptr<Instruction>> simpler() const = 0;
};
using InstructionPtr = std::shared_ptr<Instruction>;

struct Effect {
  std::vector<uint64_t> out;
  Memory memory;
};
/// What the oracle says one lane does.
Effect effect(const Instruction& i, const Lane& lane, const Memory::Image& image);

struct Family {
  std::string name;
  unsigned per_program;  ///< instructions in one program
  Setting (*setting)(Random&);
  InstructionPtr (*make)(Random&, const Setting&);
};
const std::vector<Family>& families();

Setting sass_setting(Random& random);
InstructionPtr make_sass(Random& random, const Setting& setting);
InstructionPtr make_sass_atomic(Random& random, const Setting& setting);
Setting ptx_setting(Random& random);
InstructionPtr make_ptx(Random& random, const Setting& setting);
Setting gcn_setting(Random& random);
InstructionPtr make_gcn(Random& random, const Setting& setting);
InstructionPtr make_gcn_format(Random& random, const Setting& setting);

}  // namespace lanewise::fuzz
