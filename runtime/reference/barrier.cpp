#include "runtime/reference/group.hpp"

namespace lanewise::reference {

using ir::BarrierKind;

bool Group::arrive(Lane& lane, const Code& code) {
  const auto id = code.sources > 0 ? static_cast<uint32_t>(lane.r[code.s0]) : 0;
  if (id >= kBarriers) {
    record(lane, FaultKind::illegal_instruction, code.site);
    end(lane);
    return false;
  }
  Barrier& barrier = barriers_[id];
  if (barrier.arrived++ == 0) {
    barrier.wanted = code.sources > 1 ? static_cast<uint32_t>(lane.r[code.s1]) : 0;
  }
  const auto kind = static_cast<BarrierKind>(code.mode);
  if (kind == BarrierKind::arrive) {
    ++lane.position;
    open_if_complete(id);
    return true;
  }
  if (kind != BarrierKind::sync && code.sources > 2) {
    const uint32_t vote = lane.r[code.s2] != 0;
    barrier.count += vote;
    barrier.all &= vote;
    barrier.any |= vote;
  }
  lane.state = LaneState::at_barrier;
  lane.barrier = id;
  open_if_complete(id);
  return lane.state == LaneState::ready;
}

bool Group::open_if_complete(uint32_t id) {
  const Barrier& barrier = barriers_[id];
  if (barrier.arrived == 0) return false;
  if (barrier.arrived < (barrier.wanted != 0 ? barrier.wanted : live_)) return false;
  open(id);
  return true;
}

void Group::open(uint32_t id) {
  const Barrier barrier = barriers_[id];
  barriers_[id] = {};
  for (Lane& lane : lanes_) {
    if (lane.state != LaneState::at_barrier || lane.barrier != id) continue;
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
  for (uint32_t id = 0; id < kBarriers; ++id) opened |= open_if_complete(id);
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
