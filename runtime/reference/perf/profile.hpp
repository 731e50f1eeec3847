// What the instructions of a launch cost (--check perf): requests, sectors, passes through the
// banks of shared memory, branches, counted as the waves execute them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::reference {

/// The bytes of one access of a wave: an address for each lane that takes part.
struct WaveBytes {
  std::vector<std::pair<uint32_t, uint64_t>> lanes;  ///< number in the wave, address
  uint32_t bytes = 0;                                ///< of each lane
};

/// What is charged by; docs/counters.md has the rules.
uint64_t sectors_of(const WaveBytes& access);
uint64_t least_sectors_of(const WaveBytes& access);
/// Local memory lies word by word, those of the wave's lanes side by side.
uint64_t local_sectors_of(const WaveBytes& access);
uint64_t passes_of(const WaveBytes& access);
uint64_t least_passes_of(const WaveBytes& access);
/// The most lanes that have one address.
uint64_t same_address_of(const WaveBytes& access);

/// Of one instruction.
struct Cost {
  uint64_t executed = 0;  ///< by waves, also where no lane took part
  uint64_t requests = 0;  ///< accesses in which lanes took part
  uint64_t lanes = 0;     ///< summed over requests, or branches
  uint64_t sectors = 0, least_sectors = 0;
  uint64_t passes = 0, least_passes = 0;
  uint64_t serial = 0;     ///< of atomics: lanes that share an address follow each other
  uint64_t divergent = 0;  ///< of branches: lanes went both ways
};

class Profile {
 public:
  explicit Profile(const ir::Program& program);

  /// f32 and f64: arithmetic of lanes.
  enum class Kind : uint8_t { global, shared, local, branch, f32, f64 };
  /// An atomic whose result nobody gets is a reduction.
  enum class What : uint8_t { load, store, atomic, reduction, branch, add, mul, fma };
  /// Null lanes: the instruction was executed for nobody.
  void access(uint32_t site, Kind kind, What what, const WaveBytes& access);
  void branch(uint32_t site, uint64_t active, uint64_t taken);
  void arithmetic(uint32_t site, Kind kind, What what, uint64_t lanes);
  std::string json() const;

 private:
  struct Key {
    uint32_t site;
    Kind kind;
    What what;
    auto operator<=>(const Key&) const = default;
  };
  const ir::Program& program_;
  std::vector<uint32_t> parts_;  ///< [site]: memory operations that make up the instruction
  std::map<Key, Cost> costs_;
};

}  // namespace lanewise::reference
