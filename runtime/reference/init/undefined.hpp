// Bits of registers that depend on what nobody has written (--check init): a second file of
// registers for each wave, with a 1 for each such bit, and where they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/reference/decode.hpp"
#include "runtime/reference/lanes/wave.hpp"

namespace lanewise::reference {

/// A load of bytes that were not all written.
struct UndefinedOrigin {
  uint32_t site = ~0U;
  uint64_t address = 0;
  uint32_t size = 0;
  uint32_t stored_by = ~0U;  ///< site of the store that copied the bytes there; ~0 = nobody did
  uint64_t bits = 0;         ///< of what was loaded
  bool computed = false;     ///< the value is more than a copy of these bytes
};

/// Of a value.
struct UndefinedBits {
  uint64_t bits = 0;
  UndefinedOrigin origin{};
};

class Undefined {
 public:
  Undefined(const DecodedProgram& program, size_t waves)
      : register_bytes_(program.registers.size()), files_(waves) {}

  /// A group starts.
  void forget();
  /// Some register of the wave depends on it; where none does, nothing has to be followed.
  bool any(const Wave& wave) const { return files_[wave.index].count != 0; }
  uint64_t bits(const Wave& wave, Slot slot, uint32_t lane) const;
  UndefinedBits get(const Wave& wave, Slot slot, uint32_t lane) const;
  void set(const Wave& wave, Slot slot, uint32_t lane, const UndefinedBits& value);

 private:
  struct File {
    std::vector<std::byte> regs;  ///< as Wave::regs has its registers; empty: nothing is undefined
    size_t count = 0;             ///< registers of lanes with a bit
    std::unordered_map<uint64_t, UndefinedOrigin> origins;  ///< of these
  };
  static uint64_t key(Slot slot, uint32_t lane) { return uint64_t{offset_of(slot)} << 8 | lane; }
  /// Register files are read and written as those of a wave are.
  static Wave as_wave(File& file);

  size_t register_bytes_;
  mutable std::vector<File> files_;
};

/// What of an instruction's results depends on undefined bits of its sources: of instructions that
/// touch registers alone. `values`: of the sources.
struct Transfer {
  const Code& code;
  uint32_t lane;
  const uint64_t* values;
  const UndefinedBits* sources;

  /// The bits of result n.
  uint64_t result(uint32_t n) const;
  /// The result is arithmetic, not a copy or a part of its sources.
  bool computes() const;
};

}  // namespace lanewise::reference
