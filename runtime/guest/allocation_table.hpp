// Who owns an address: the allocations of a launch as the shader library looks them up
// (shaders/lib/memory/memory_check.glsl). Memory is cut into granules; a table says how many
// allocations begin at or below the first byte of each. Only those that begin inside a granule are
// left to search for: none where granules are as small as the allocator's alignment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

class AllocationTable {
 public:
  AllocationTable() = default;
  /// `allocations` are sorted by address and do not overlap.
  explicit AllocationTable(std::span<const Allocation> allocations) { assign(allocations); }
  void assign(std::span<const Allocation> allocations);

  /// Of the header, the list and the table.
  size_t words() const;
  /// All of them but the header's words for imported memory, which become 0.
  void write(uint32_t* words) const;

  bool operator==(const AllocationTable&) const = default;

  /// Granules are this large at least (a shift), and no more of them than this.
  static constexpr uint32_t kSmallestShift = 8, kMostGranules = 1U << 16;

 private:
  struct Entry {
    uint64_t start, end;
    bool read_only;
    bool operator==(const Entry&) const = default;
  };
  uint32_t shift() const;
  uint64_t start() const;      ///< of the first granule
  uint64_t last_byte() const;  ///< from there
  uint32_t granules() const;

  std::vector<Entry> entries_;
};

}  // namespace lanewise::guest
