// Reuse distances: how many other lines were used since the last use of this one. A cache of C
// lines with LRU and without sets misses where the distance is C or more, so one pass over a trace
// gives the miss ratio of every capacity (Mattson et al. 1970; with a Fenwick tree over the times
// of latest uses, after Olken 1981).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lanewise::cache {

class ReuseStack {
 public:
  static constexpr uint64_t kFirstUse = ~uint64_t{0};
  struct Use {
    uint64_t distance;  ///< kFirstUse: the line has not been seen before
    bool evicted;       ///< it has left the cache because another line came (see evicted())
  };
  ReuseStack();
  /// Uses a line. Time O(log(lines)).
  Use use(uint64_t line);
  /// Notes that the line was evicted; the next use forgets it.
  void evicted(uint64_t line);
  size_t lines() const { return latest_.size(); }
  size_t memory_bytes() const;

 private:
  struct Entry {
    uint32_t time = 0;
    bool evicted = false;
  };
  void add(uint32_t time, int32_t change);
  uint32_t sum_to(uint32_t time) const;
  /// Times start anew with as many as there are lines.
  void renumber();

  std::unordered_map<uint64_t, Entry> latest_;
  std::vector<uint32_t> tree_;  ///< Fenwick: 1 where a line's latest use is
  uint32_t now_ = 0;
};

/// How many uses had which distance. Distances below 64 are counted one by one, larger ones in 16
/// steps an octave; at the edges of steps, which edge() lists, misses() is exact.
class ReuseCurve {
 public:
  void add(uint64_t distance) {
    ++uses_;
    if (distance == ReuseStack::kFirstUse) {
      ++first_uses_;
      return;
    }
    const size_t step = step_of(distance);
    if (step >= steps_.size()) steps_.resize(step + 1);
    ++steps_[step];
  }
  uint64_t uses() const { return uses_; }
  uint64_t first_uses() const { return first_uses_; }
  /// Of an LRU cache of this many lines without sets. Rounded up to the next edge.
  uint64_t misses(uint64_t lines) const;
  /// Capacities in lines where the number of misses changes, the smallest cache first, and what
  /// misses there; the first is that of 0 lines, where everything misses.
  struct Point {
    uint64_t lines, misses;
  };
  std::vector<Point> points() const;
  static uint64_t edge(size_t step);

 private:
  static size_t step_of(uint64_t distance);

  uint64_t uses_ = 0, first_uses_ = 0;
  std::vector<uint64_t> steps_;
};

}  // namespace lanewise::cache
