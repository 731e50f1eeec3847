// What a run came to, without the caches that it took: what parts of a run are put together to, and
// what a sample is estimated to.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

/// LevelCounters as a list, and what its numbers are called.
inline constexpr size_t kLevelCounters = sizeof(LevelCounters) / sizeof(uint64_t);
using CounterList = std::array<uint64_t, kLevelCounters>;
inline constexpr std::array<std::string_view, kLevelCounters> kCounterNames = {
    "reads",
    "read_misses",
    "writes",
    "write_misses",
    "sector_hits",
    "sector_misses",
    "write_sector_hits",
    "write_sector_misses",
    "fills",
    "evictions",
    "write_backs",
    "write_back_bytes",
    "invalidated",
    "prefetches",
    "over_fetch",
    "sectors_normal",
    "sectors_first",
    "sectors_last",
    "sectors_unchanged"};

/// Of a sample of L2's sets: what all of them would have come to, and between which two numbers
/// that is in 95 of 100 samples.
struct Estimate {
  std::string_view counter;
  double value = 0, low = 0, high = 0;
};
struct Sample {
  uint32_t rate = 1;               ///< as asked for: one set in so many
  uint32_t units = 0, of = 0;      ///< that were in the sample, and that there are
  uint32_t sets_each = 1;          ///< of a unit
  std::vector<Estimate> counters;  ///< of L2
};

struct Results {
  uint64_t records = 0, tracker_bytes = 0;
  std::array<LevelCounters, kCaches> counters{};
  std::array<Engine::Dirty, kCaches> dirty{};
  std::vector<SiteCounters> sites;
  std::vector<Finding> findings;
  std::optional<Sample> sample;
};

}  // namespace lanewise::cache
