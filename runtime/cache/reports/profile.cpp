#include "runtime/cache/reports/profile.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

constexpr size_t kLines = 4096;
constexpr size_t kFoundLines = 512;  ///< beyond these, of which findings speak

/// The L2's index function without its ways. An infinite cache has no sets: line number modulo
/// rows.
Geometry index_only(const Geometry& l2) {
  Geometry g = l2;
  g.ways = 1;
  if (l2.infinite) {
    g.infinite = false;
    g.slices = 1;
    g.sets = Profile::kMaxRows;
    g.hash = IndexHash::linear;
  }
  g.replacement = Replacement::lru;
  return g;
}

}  // namespace

void LineStory::add(const LineEvent& e) {
  if (room == 0) {
    ++later;
    return;
  }
  --room;
  if (ring.size() < kEvents) return ring.push_back(e);
  ring[next] = e;
  next = (next + 1) % kEvents;
  ++dropped;
}

std::vector<LineEvent> LineStory::events() const {
  std::vector<LineEvent> all(ring);
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(next), all.end());
  return all;
}

Profile::Profile(const Preset& preset) : map_(index_only(preset.l2), 0, 100) {
  sets_ = map_.total_sets();
  rows_ = std::min(sets_, kMaxRows);
  cells_.resize(size_t{rows_} * kColumns);
}

Profile::Counts Profile::counts(const Engine& engine, const SiteCounters& site) {
  const LevelCounters& l1 = engine.counters(Cache::l1);
  const LevelCounters& l2 = engine.counters(Cache::l2);
  return {l1.read_misses + l1.write_misses, l2.reads + l2.writes, l2.read_misses + l2.write_misses,
          l2.write_backs, site.stale};
}

uint32_t Profile::column_of(uint64_t context) {
  while (context / width_ >= kColumns) halve();
  const auto column = static_cast<uint32_t>(context / width_);
  columns_used_ = std::max(columns_used_, column + 1);
  return column;
}

/// The trace is longer than was thought: two columns become one.
void Profile::halve() {
  for (uint32_t r = 0; r < rows_; ++r) {
    HeatCell* row = &cells_[size_t{r} * kColumns];
    for (uint32_t c = 0; c < kColumns; ++c) {
      HeatCell sum;
      for (uint32_t k = 2 * c; k < std::min(2 * c + 2, kColumns); ++k) {
        sum.requests += row[k].requests;
        sum.misses += row[k].misses;
        sum.write_backs += row[k].write_backs;
      }
      row[c] = sum;
    }
  }
  width_ *= 2;
  columns_used_ = (columns_used_ + 1) / 2;
}

void Profile::after(const Engine& engine, const SiteCounters& site, uint32_t site_index,
                    trace::OpKind kind, const Access& access, bool found) {
  const Counts now = counts(engine, site);
  const uint64_t set = map_.set_of(map_.line_address(access.block));
  const uint32_t row = static_cast<uint32_t>(set * rows_ / sets_);
  HeatCell& cell = cells_[size_t{row} * kColumns + column_of(access.context)];
  cell.requests += now.l2_requests - then_.l2_requests;
  cell.misses += now.l2_misses - then_.l2_misses;
  cell.write_backs += now.write_backs - then_.write_backs;

  auto at = lines_.find(access.block);
  if (at == lines_.end()) {
    if (lines_.size() >= kLines + (found ? kFoundLines : 0)) return;
    at = lines_.try_emplace(access.block).first;
    at->second.block = access.block;
  }
  LineStory& line = at->second;
  ++line.accesses;
  const bool to_memory = now.l2_misses != then_.l2_misses;
  if (to_memory) ++line.misses;
  const LineOutcome outcome = now.stale != then_.stale               ? LineOutcome::stale
                              : kind == trace::OpKind::control       ? LineOutcome::control
                              : kind == trace::OpKind::store         ? LineOutcome::write
                              : kind == trace::OpKind::atomic        ? LineOutcome::write
                              : to_memory                            ? LineOutcome::memory
                              : now.l2_requests != then_.l2_requests ? LineOutcome::l2_hit
                                                                     : LineOutcome::l1_hit;
  line.add({access.context, site_index, static_cast<uint16_t>(access.sm), outcome});
  if (found) line.found();
}

}  // namespace lanewise::cache
