#include "runtime/script/cache_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::script {
namespace {

using cache::LevelCounters;

struct Counter {
  std::string_view name;
  uint64_t LevelCounters::*value;
};
constexpr Counter kCounters[] = {
    {"reads", &LevelCounters::reads},
    {"read_misses", &LevelCounters::read_misses},
    {"writes", &LevelCounters::writes},
    {"write_misses", &LevelCounters::write_misses},
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
constexpr std::string_view kCaches[cache::kCaches] = {
    "l1", "constant", "constant_l15", "instruction", "instruction_l15", "scalar", "l2"};

cache::Preset preset_named(const std::string& name, Loc loc) {
  try {
    return cache::load_preset(name);
  } catch (const Error& e) {
    fail(loc, e.what());
  }
}

uint64_t findings(const cache::Tracker& tracker, const std::string& rule) {
  uint64_t n = 0;
  for (const cache::Finding& f : tracker.findings())
    if (rule == cache::rule(f.rule).id) n += f.count;
  return n;
}

}  // namespace

cache::Cache cache_named(const std::string& name, Loc loc) {
  std::string known;
  for (size_t n = 0; n < cache::kCaches; ++n) {
    if (kCaches[n] == name) return static_cast<cache::Cache>(n);
    known += fmt::format("{}{}", n == 0 ? "" : ", ", kCaches[n]);
  }
  fail(loc, fmt::format("unknown cache '{}', expected {} or finding", name, known));
}

void check_counter(const std::string& name, Loc loc) {
  std::string known;
  for (const Counter& c : kCounters) {
    if (c.name == name) return;
    known += fmt::format("{}, ", c.name);
  }
  fail(loc, fmt::format("unknown count '{}', expected {}holds or lacks", name, known));
}

CacheWatch::CacheWatch(const std::string& preset, Loc loc)
    : tracker_(preset_named(preset, loc)), collector_(tracker_) {}

void CacheWatch::observe(ir::Program& program, LaunchRequest& request) {
  collector_.number_points(program);
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts)
      if (inst.site == ir::kNone) inst.event = 0;
  request.program = &program;
  request.events = &collector_;
}

uint64_t CacheWatch::count(const ExpectCache& e) const {
  if (e.what == ExpectCache::What::finding) return findings(tracker_, e.name);
  const LevelCounters& n = tracker_.engine().counters(cache_named(e.cache, e.loc));
  const auto row = std::ranges::find(kCounters, e.name, &Counter::name);
  return n.*row->value;
}

CacheWatch::Found CacheWatch::line(const ExpectCache& e, uint64_t address) const {
  const cache::LineState s = tracker_.engine().byte_state(cache_named(e.cache, e.loc), address);
  return {s.present, s.dirty};
}

std::string CacheWatch::Found::text() const {
  return !present ? "absent" : dirty ? "present, dirty" : "present, clean";
}

}  // namespace lanewise::script
