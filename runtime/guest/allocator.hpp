// Deterministic first-fit allocation in the arena: the same calls give the same addresses
// everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/guest/layout.hpp"

namespace lanewise::guest {

class Allocator {
 public:
  /// Returns an address that is a multiple of `align` (at least kAllocAlign). Neighbouring
  /// allocations never touch: at least one kAllocAlign gap lies between them, so that --memcheck
  /// alloc sees an access one byte past the end.
  uint64_t allocate(uint64_t size, std::string name, bool read_only = false,
                    uint64_t align = kAllocAlign);
  /// An address for memory that lies elsewhere (layout.hpp), as aligned as `low_bits`, the low bits
  /// of its address on the device, say.
  uint64_t allocate_foreign(uint64_t size, std::string name, bool read_only, uint64_t low_bits);
  bool has_foreign() const { return !live_.empty() && live_.back().address >= kForeignBase; }
  /// Throws Error(usage) when nothing was allocated at this address.
  void free(uint64_t address);
  /// Takes back the last allocation, whose memory could not be had: the high-water mark is what it
  /// was.
  void undo(uint64_t address, uint64_t high_water_before);
  /// Bytes of arena needed to hold everything allocated so far (high-water mark).
  uint64_t high_water() const { return high_water_; }
  const std::vector<Allocation>& allocations() const { return live_; }  ///< sorted by address

 private:
  std::vector<Allocation> live_;
  uint64_t high_water_ = 0;
};

/// The allocation that holds or lies nearest to an address, and the distance in bytes
/// (0 inside, positive beyond its end, negative before its start).
struct Nearest {
  const Allocation* allocation;
  int64_t distance;
};
std::optional<Nearest> nearest_allocation(std::span<const Allocation> sorted, uint64_t address);

}  // namespace lanewise::guest
