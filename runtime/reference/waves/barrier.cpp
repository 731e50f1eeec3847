#include <algorithm>

#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

using ir::BarrierKind;

/// Barriers open between the rounds of the lanes, so that all who arrive in one round leave
/// together.
void Group::arrive(Lane& lane, const Code& code) {
  const auto id = code.sources > 0 ? static_cast<uint32_t>(lane.r[code.s0]) : 0;
  if (id >= kBarriers) {
    record(lane, FaultKind::illegal_instruction, code.site);
    end(lane);
    return;
  }
  Barrier& barrier = barriers_[id];
  lane.ticket = barrier.arrived++;
  const auto count = code.sources > 1 ? static_cast<uint32_t>(lane.r[code.s1]) : 0;
  const auto named = count != 0 ? count : static_cast<uint32_t>(lanes_.size());
  barrier.wanted = std::max(barrier.wanted, count);
  barrier.least = std::min(barrier.least, named);
  barrier.most = std::max(barrier.most, named);
  const auto kind = static_cast<BarrierKind>(code.mode);
  if (kind == BarrierKind::arrive) {
    ++lane.position;
    return;
  }
  if (kind != BarrierKind::sync && code.sources > 2) {
    const uint32_t vote = lane.r[code.s2] != 0;
    ++barrier.voters;
    barrier.count += vote;
    barrier.all &= vote;
    barrier.any |= vote;
  }
  lane.state = LaneState::at_barrier;
  lane.barrier = id;
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
  barriers_[id].gone += lanes;
  if (barriers_[id].gone == barrier.arrived) barriers_[id] = {};
  idle_ = 0;
  for (Lane& lane : lanes_) {
    if (lane.state != LaneState::at_barrier || lane.barrier != id) continue;
    if (lane.ticket - barrier.gone >= lanes) continue;
    const Code& code = program_.codes[lane.position];
    switch (static_cast<BarrierKind>(code.mode)) {
      case BarrierKind::red_popc:
        lane.r[code.d0] = barrier.count;
        break;
      case BarrierKind::red_and:
        lane.r[code.d0] = barrier.all;
        break;
      case BarrierKind::red_or:
        lane.r[code.d0] = barrier.any;
        break;
      default:
        break;
    }
    ++lane.position;
    lane.state = LaneState::ready;
  }
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
  for (Lane& lane : lanes_) {
    if (lane.state != LaneState::at_barrier) continue;
    record(lane, FaultKind::barrier_divergence, program_.codes[lane.position].site);
    end(lane);
  }
}

}  // namespace lanewise::reference
