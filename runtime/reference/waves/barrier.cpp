#include <algorithm>

#include "runtime/reference/race/clocks.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

using ir::BarrierKind;

/// For so many lanes; 0: all.
Barrier& Group::named_barrier(uint32_t id, uint32_t count) {
  Barrier& barrier = barriers_[id];
  const uint32_t named = count != 0 ? count : lane_count_;
  barrier.wanted = std::max(barrier.wanted, count);
  barrier.least = std::min(barrier.least, named);
  barrier.most = std::max(barrier.most, named);
  return barrier;
}

/// Barriers open between the rounds of the lanes, so that all who arrive in one round leave
/// together.
void Group::arrive(Lane lane, const Code& code) {
  if (static_cast<BarrierKind>(code.mode) == BarrierKind::yield) {
    ++lane.position();
    return;
  }
  const auto source = [&](uint32_t n) {
    return n < code.sources ? static_cast<uint32_t>(lane.get(code.src[n])) : 0;
  };
  const uint32_t id = source(0);
  if (id >= kBarriers) {
    record(lane, {.kind = FaultKind::illegal_instruction, .site = code.site});
    end(lane.wave, lane.bit());
    return;
  }
  const uint32_t count = source(1);
  Barrier& barrier = named_barrier(id, count);
  lane.wave.ticket[lane.i] = barrier.arrived++;
  if (setting_.sync != nullptr) note_arrival(id, lane, code, count);
  const auto kind = static_cast<BarrierKind>(code.mode);
  if (kind == BarrierKind::arrive) {
    if (race_clocks_) race_clocks_->arrive(id, lane.linear());
    ++lane.position();
    return;
  }
  if (kind != BarrierKind::sync && code.sources > 2) {
    const uint32_t vote = source(2);
    ++barrier.voters;
    barrier.count += vote;
    barrier.all &= vote;
    barrier.any |= vote;
  }
  lane.wave.at_barrier |= lane.bit();
  lane.wave.barrier[lane.i] = static_cast<uint8_t>(id);
}

/// The same of lanes that only wait, and name a constant barrier and count; false: they do not.
bool Group::arrive_together(Wave& wave, uint64_t lanes, const Code& code) {
  const bool plain = code.same_operands && static_cast<BarrierKind>(code.mode) == BarrierKind::sync;
  if (!plain) return false;
  const auto source = [&](uint32_t n) {
    return n < code.sources ? static_cast<uint32_t>(wave.get(code.src[n], 0)) : 0;
  };
  const uint32_t id = source(0), count = source(1);
  if (id >= kBarriers) return false;
  Barrier& barrier = named_barrier(id, count);
  uint32_t arrived = barrier.arrived;
  for_each_lane(lanes, [&](uint32_t i) {
    wave.ticket[i] = arrived++;
    wave.barrier[i] = static_cast<uint8_t>(id);
  });
  barrier.arrived = arrived;
  if (setting_.sync != nullptr)
    for_each_lane(lanes, [&](uint32_t i) { note_arrival(id, {wave, i}, code, count); });
  wave.at_barrier |= lanes;
  return true;
}

/// How many of those who have arrived go on now: full sets of the count. A barrier at which lanes
/// have named different counts never opens, nor does a reduction that more than one set has joined.
uint32_t Group::opens(const Barrier& barrier) const {
  const uint32_t here = barrier.arrived - barrier.gone;
  const uint32_t wanted = std::max(barrier.wanted != 0 ? barrier.wanted : live_, 1U);
  const bool joined = barrier.voters != 0 && here > wanted;
  if (here == 0 || barrier.least != barrier.most || joined) return 0;
  if (barrier.wanted == 0 && here >= wanted) return here;
  return here / wanted * wanted;
}

void Group::open(uint32_t id, uint32_t lanes) {
  const Barrier barrier = barriers_[id];
  if (setting_.sync != nullptr) judge_opening(id, barrier, lanes);
  barriers_[id].gone += lanes;
  if (barriers_[id].gone == barrier.arrived) barriers_[id] = {};
  idle_ = 0;
  std::vector<uint32_t> met;  // for the check of races
  for (Wave& wave : waves_)
    for_each_lane(wave.at_barrier, [&](uint32_t i) {
      if (wave.barrier[i] != id || wave.ticket[i] - barrier.gone >= lanes) return;
      const Lane lane{wave, i};
      if (race_clocks_) met.push_back(lane.linear());
      if (views_) meet_views(wave, lane.bit());
      const Code& code = lane.code();
      const auto kind = static_cast<BarrierKind>(code.mode);
      if (kind == BarrierKind::red_popc) lane.set(code.dst[0], barrier.count);
      if (kind == BarrierKind::red_and) lane.set(code.dst[0], barrier.all);
      if (kind == BarrierKind::red_or) lane.set(code.dst[0], barrier.any);
      ++lane.position();
      wave.at_barrier &= ~lane.bit();
    });
  if (race_clocks_) watch_barrier(id, met);
}

/// Lanes that ended may have been all that a barrier still waited for.
bool Group::open_barriers() {
  bool opened = false;
  for (uint32_t id = 0; id < kBarriers; ++id) {
    const uint32_t lanes = opens(barriers_[id]);
    if (lanes == 0) continue;
    open(id, lanes);
    opened = true;
  }
  return opened;
}

void Group::fail_waiting_lanes() {
  std::array<std::shared_ptr<const Sync>, kBarriers> why;
  for (uint32_t id = 0; id < kBarriers; ++id)
    if (barriers_[id].arrived != 0) why[id] = deadlock_at(id);
  for (Wave& wave : waves_)
    for_each_lane(wave.at_barrier, [&](uint32_t i) {
      const Lane lane{wave, i};
      record(lane, {.kind = FaultKind::barrier_divergence,
                    .site = lane.code().site,
                    .sync = why[wave.barrier[i]]});
      end(wave, lane.bit());
    });
}

}  // namespace lanewise::reference
