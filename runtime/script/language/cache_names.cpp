#include "runtime/script/language/cache_names.hpp"

#include <fmt/format.h>

namespace lanewise::script {
namespace {

using cache::LevelCounters;

struct Counter {
  std::string_view name;
  CacheCounter value;
};
constexpr Counter kCounters[] = {
    {"reads", &LevelCounters::reads},
    {"read_misses", &LevelCounters::read_misses},
    {"writes", &LevelCounters::writes},
    {"write_misses", &LevelCounters::write_misses},
    {"write_sector_hits", &LevelCounters::write_sector_hits},
    {"write_sector_misses", &LevelCounters::write_sector_misses},
    {"sector_hits", &LevelCounters::sector_hits},
    {"sector_misses", &LevelCounters::sector_misses},
    {"fills", &LevelCounters::fills},
    {"evictions", &LevelCounters::evictions},
    {"write_backs", &LevelCounters::write_backs},
    {"write_back_bytes", &LevelCounters::write_back_bytes},
    {"invalidated", &LevelCounters::invalidated},
    {"prefetches", &LevelCounters::prefetches},
    {"over_fetch", &LevelCounters::over_fetch},
};

/// In the order of cache::Cache.
constexpr std::string_view kNames[cache::kCaches] = {
    "l1", "constant", "constant15", "instruction", "instruction15", "scalar", "l2"};

}  // namespace

cache::Cache cache_named(const std::string& name, Loc loc) {
  std::string known;
  for (size_t n = 0; n < cache::kCaches; ++n) {
    if (kNames[n] == name) return static_cast<cache::Cache>(n);
    known += fmt::format("{}, ", kNames[n]);
  }
  fail(loc, fmt::format("unknown cache '{}', expected {}or finding", name, known));
}

CacheCounter counter_named(const std::string& name, Loc loc) {
  std::string known;
  for (const Counter& c : kCounters) {
    if (c.name == name) return c.value;
    known += fmt::format("{}, ", c.name);
  }
  fail(loc, fmt::format("unknown count '{}', expected {}valid_bytes, dirty_bytes, holds or lacks",
                        name, known));
}

}  // namespace lanewise::script
