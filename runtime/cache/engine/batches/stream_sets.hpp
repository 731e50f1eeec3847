// The sets of L2 as a stream of accesses sees them (engine_stream.cpp): a set is looked through
// some accesses before it is made, and what was found there mostly still holds then.
#pragma once

#include <bit>

#include "runtime/cache/engine/sets/level.hpp"

namespace lanewise::cache {

/// What was found in a set ahead of an access.
struct Prefetched {
  static constexpr uint32_t kThere = ~uint32_t{0};      ///< no stamp: the line may be the one
  static constexpr uint32_t kElsewhere = ~uint32_t{0};  ///< no line: in another share
  uint32_t first = 0;                                   ///< line of the set
  uint32_t line = kNoLine;  ///< that has the tag; if none has, the one that goes next
  uint32_t stamp = kThere;  ///< of the line that goes next
  bool here() const { return first != kElsewhere; }
};

/// Of an LRU cache of up to 32 ways that does not grow. kStride: Level::stride_of(), or 0 for any.
template <bool kWide, unsigned kStride>
class StreamSets {
 public:
  explicit StreamSets(Level& level) : tables_(level.tables()) {}

  uint32_t stride() const { return kStride != 0 ? kStride : tables_.stride; }
  uint32_t find(uint32_t first, uint32_t tag, uint64_t address) const {
    for (uint32_t there = equal(tables_.tags + first, tag); there != 0; there &= there - 1) {
      const uint32_t line = first + static_cast<uint32_t>(std::countr_zero(there));
      if (tables_.lines[line].address == address) return line;
    }
    return kNoLine;
  }
  void prefetch(uint32_t first) const {
    for (uint32_t at = first; at < first + stride(); at += 16) {
      __builtin_prefetch(tables_.tags + at);
      __builtin_prefetch(tables_.stamps + at, 1);
    }
  }
  void prefetch(uint32_t tag, Prefetched& f) const {
    const uint32_t there = equal(tables_.tags + f.first, tag);
    if (there != 0) {
      f.line = f.first + static_cast<uint32_t>(std::countr_zero(there));
      f.stamp = Prefetched::kThere;
    } else {
      f.line = oldest(f.first);
      f.stamp = tables_.stamps[f.line];
    }
    __builtin_prefetch(&tables_.lines[f.line], 1);
  }
  bool holds(const Prefetched& f, uint64_t address) const {
    return f.stamp == Prefetched::kThere && tables_.lines[f.line].address == address;
  }
  /// The line is not in the set, and f.line is evicted for it. Who comes new into a set takes the
  /// line that goes next, and gives it a new time: nobody came.
  bool lacks(const Prefetched& f) const { return tables_.stamps[f.line] == f.stamp; }

  uint32_t oldest(uint32_t first) const {
    const uint32_t* const stamps = tables_.stamps + first;
    uint32_t ways = 0;
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) {
      if (stride() == 4)
        ways = oldest4_wide(stamps);
      else if (stride() == 16)
        ways = oldest16_wide(stamps);
      else if (stride() == 32)
        ways = oldest32_wide(stamps);
      else
        ways = equal_ways_wide(stamps, stride(), least_wide(stamps, stride()));
      return first + static_cast<uint32_t>(std::countr_zero(ways));
    }
#endif
    ways = equal(stamps, least(stamps, stride()));
    return first + static_cast<uint32_t>(std::countr_zero(ways));
  }

 private:
  /// Bit i: column[i] == value, of a set's ways.
  uint32_t equal(const uint32_t* column, uint32_t value) const {
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) {
      if (stride() == 32) return equal_32_wide(column, value);
      return equal_ways_wide(column, stride(), value);
    }
#endif
    if (stride() == 32)
      return equal_ways(column, 16, value) | equal_ways(column + 16, 16, value) << 16;
    return equal_ways(column, stride(), value);
  }

  Level::Tables tables_;
};

}  // namespace lanewise::cache
