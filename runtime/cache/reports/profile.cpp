#include "runtime/cache/reports/profile.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

constexpr uint32_t kSetRows = 128, kSmRows = 256;
constexpr size_t kMostLines = 4096;
constexpr size_t kFoundLines = 512;  ///< beyond these, which findings name

/// The L2's index function without its ways. An infinite cache has no sets: line number modulo
/// rows.
Geometry index_only(const Geometry& l2) {
  Geometry g = l2;
  g.ways = 1;
  if (l2.infinite) {
    g.infinite = false;
    g.slices = 1;
    g.sets = kSetRows;
    g.hash = IndexHash::linear;
  }
  g.replacement = &lru_policy;
  return g;
}

}  // namespace

void LineHistory::add(const LineEvent& e) {
  if (capacity == 0) {
    ++later;
    return;
  }
  --capacity;
  if (ring.size() < kEvents) return ring.push_back(e);
  ring[next] = e;
  next = (next + 1) % kEvents;
  ++dropped;
}

std::vector<LineEvent> LineHistory::events() const {
  std::vector<LineEvent> all(ring);
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(next), all.end());
  return all;
}

Profile::Profile(const Preset& preset)
    : map_(index_only(preset.l2), 0, 100),
      by_set_(map_.total_sets(), kSetRows),
      by_sm_(preset.sms, kSmRows) {}

HeatCell Profile::counts(const Engine& engine, const SiteCounters& site) {
  HeatCell n;
  n.l1_hits = site.l1_hits;
  n.l1_misses = site.l1_misses;
  n.stores = site.l2_write_hits + site.l2_write_misses;
  n.l2_hits = site.l2_hits + site.l2_write_hits;
  n.l2_misses = site.l2_misses + site.l2_write_misses;
  for (size_t i = 0; i < kCaches; ++i) {
    const auto c = static_cast<Cache>(i);
    (c == Cache::l2 ? n.l2_evictions : n.l1_evictions) += engine.counters(c).evictions;
  }
  n.write_backs = engine.counters(Cache::l2).write_backs;
  n.stale = site.stale;
  return n;
}

uint32_t Profile::column_of(uint64_t context) {
  while (context / width_ >= kHeatColumns) halve();
  const auto column = static_cast<uint32_t>(context / width_);
  columns_used_ = std::max(columns_used_, column + 1);
  return column;
}

/// The trace is longer than was thought: two columns become one.
void Profile::halve() {
  by_set_.halve();
  by_sm_.halve();
  by_address_.halve();
  width_ *= 2;
  columns_used_ = (columns_used_ + 1) / 2;
}

namespace {
std::array<LevelCounters, 2> levels(const Engine& engine) {
  return {engine.counters(Cache::l1), engine.counters(Cache::l2)};
}
}  // namespace

void Profile::kernel_begin(const Engine& engine, uint32_t kernel, uint32_t context) {
  kernel_end(engine, context);  // of a kernel that did not say so
  in_launch_ = launches_.size() < kLaunches;
  if (in_launch_) launches_.push_back({kernel, context, context, false, levels(engine), {}});
}

void Profile::kernel_end(const Engine& engine, uint32_t context) {
  if (in_launch_) {
    launches_.back().end = context;
    launches_.back().ended = true;
    launches_.back().after = levels(engine);
  }
  in_launch_ = false;
}

void Profile::after(const Engine& engine, const SiteCounters& site, uint32_t site_index,
                    trace::OpKind kind, const Access& access, bool found) {
  HeatCell now = counts(engine, site).since(then_);
  now.requests = 1;
  const uint32_t column = column_of(access.context);
  by_set_.cell(map_.set_of(map_.line_address(access.block)), column).add(now);
  by_sm_.cell(access.sm, column).add(now);
  by_address_.cell(access.block, column).add(now);
  if (in_launch_) launches_.back().end = access.context + 1;

  auto at = lines_.find(access.block);
  if (at == lines_.end()) {
    if (lines_.size() >= kMostLines + (found ? kFoundLines : 0)) return;
    at = lines_.try_emplace(access.block).first;
    at->second.block = access.block;
  }
  LineHistory& line = at->second;
  ++line.accesses;
  const bool to_memory = now.l2_misses != 0;
  if (to_memory) ++line.misses;
  const LineOutcome outcome = now.stale != 0                   ? LineOutcome::stale
                              : kind == trace::OpKind::control ? LineOutcome::control
                              : kind == trace::OpKind::store   ? LineOutcome::write
                              : kind == trace::OpKind::atomic  ? LineOutcome::write
                              : to_memory                      ? LineOutcome::memory
                              : now.l2_hits != 0               ? LineOutcome::l2_hit
                                                               : LineOutcome::l1_hit;
  line.add({access.context, site_index, static_cast<uint16_t>(access.sm), outcome});
  if (found) line.found();
}

}  // namespace lanewise::cache
