#include "runtime/reference/waves/lockstep.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::reference {
namespace {

using Kind = ir::Node::Kind;

void append(const std::vector<ir::Node>& nodes, const DecodedProgram& program, TreeList& tree) {
  for (const ir::Node& n : nodes) {
    const size_t own = tree.items.size();
    TreeItem item{.kind = n.kind, .cond = n.cond, .reg = n.reg, .value = n.value};
    item.counts = n.counts;
    item.site = n.site;
    if (n.kind == Kind::block) {
      item.first = program.blocks[n.block];
      const auto insts = program.order->tree.program.blocks[n.block].insts.size();
      item.last = item.first + static_cast<uint32_t>(insts);
    }
    if (n.kind == Kind::loop) item.loop = tree.loops++;
    tree.items.push_back(item);
    append(n.body, program, tree);
    tree.items[own].body_end = static_cast<uint32_t>(tree.items.size());
    append(n.otherwise, program, tree);
    tree.items[own].end = static_cast<uint32_t>(tree.items.size());
  }
}

}  // namespace

TreeList flatten(const DecodedProgram& program) {
  TreeList tree;
  append(program.order->tree.body, program, tree);
  return tree;
}

Lockstep::Lockstep(Group& group, const DecodedProgram& program, uint32_t waves)
    : tree_(flatten(program)) {
  for (uint32_t wave = 0; wave < waves; ++wave) walks_.emplace_back(group, tree_, wave);
}

WaveWalk::WaveWalk(Group& group, const TreeList& tree, uint32_t wave)
    : group_(group), tree_(tree), wave_(wave), iterations_(size_t{tree.loops} * kMaxWave) {}

Lane& WaveWalk::lane(uint32_t in_wave) const {
  return group_.lane_of(wave_, in_wave);
}

void WaveWalk::start() {
  if (!tree_.items.empty()) wait_before(0, group_.live_mask(wave_));
}

bool WaveWalk::can_run() const {
  bool ready = false;
  for_each_lane(group_.live_mask(wave_),
                [&](uint32_t i) { ready |= lane(i).state == LaneState::ready; });
  return ready;
}

void WaveWalk::run(bool force) {
  group_.start_slice();
  force_ = force;
  gives_way_ = false;
  behind_ = 0;
  pending_ = group_.live_mask(wave_);
  const auto all = static_cast<uint32_t>(tree_.items.size());
  Flow none;
  end(all == 0 ? pending_ : list(0, all, 0, none));
}

/// Pending lanes that wait somewhere in [from, to).
uint64_t WaveWalk::inside(uint32_t from, uint32_t to) const {
  uint64_t found = 0;
  for_each_lane(pending_, [&](uint32_t i) {
    if (at_[i] >= from && at_[i] < to) found |= uint64_t{1} << i;
  });
  return found;
}

/// The lanes come to item `n` in a later walk.
void WaveWalk::wait_before(uint32_t n, uint64_t lanes) {
  const TreeItem& item = tree_.items[n];
  for_each_lane(lanes, [&](uint32_t i) {
    if (item.kind == Kind::block) lane(i).position = item.first;
    if (item.kind == Kind::loop) iteration(item, i) = 0;
  });
  leave(n, lanes);
}

void WaveWalk::leave(uint32_t n, uint64_t lanes) {
  for_each_lane(lanes, [&](uint32_t i) { at_[i] = n; });
  behind_ |= lanes;
}

void WaveWalk::end(uint64_t lanes) {
  for_each_lane(lanes, [&](uint32_t i) { group_.end(lane(i)); });
}

uint64_t WaveWalk::where(const ir::Guard& cond, uint64_t lanes) const {
  if (cond.always()) return lanes;
  uint64_t found = 0;
  for_each_lane(lanes, [&](uint32_t i) {
    found |= uint64_t{(lane(i).r[cond.reg.id] != 0) != cond.negate} << i;
  });
  return found;
}

uint64_t WaveWalk::list(uint32_t from, uint32_t to, uint64_t active, Flow& flow) {
  for (uint32_t n = from; n < to; n = tree_.items[n].end) {
    if (group_.abandoned_) return 0;
    const TreeItem& item = tree_.items[n];
    if (gives_way_) {
      wait_before(n, active);
      active = 0;
      continue;
    }
    if ((active | inside(n, item.end)) == 0) continue;
    if (item.kind == Kind::loop) for_each_lane(active, [&](uint32_t i) { iteration(item, i) = 0; });
    if (item.kind != Kind::block) {
      const uint64_t here = inside(n, n + 1);
      pending_ &= ~here;
      active |= here;
    }
    active = node(n, active, flow);
  }
  return active;
}

uint64_t WaveWalk::node(uint32_t n, uint64_t active, Flow& flow) {
  const TreeItem& item = tree_.items[n];
  switch (item.kind) {
    case Kind::block:
      return block(n, active);
    case Kind::if_: {
      const uint64_t then = where(item.cond, active);
      const uint64_t one = list(n + 1, item.body_end, then, flow);
      return one | list(item.body_end, item.end, active & ~then, flow);
    }
    case Kind::loop:
      return loop(n, active);
    case Kind::scope:
      return scope(n, active);
    case Kind::break_:
      flow.breaks |= active;
      return 0;
    case Kind::continue_:
      flow.continues |= active;
      return 0;
    case Kind::exit:
      end(active);
      return 0;
    case Kind::assign:
      for_each_lane(active, [&](uint32_t i) { lane(i).r[item.reg.id] = item.value; });
      return active;
  }
  return active;
}

uint64_t WaveWalk::scope(uint32_t n, uint64_t active) {
  Flow flow;
  const uint64_t through = list(n + 1, tree_.items[n].body_end, active, flow);
  return through | flow.breaks;
}

/// Lanes that wait inside may be in any iteration: the lowest comes first.
uint64_t WaveWalk::loop(uint32_t n, uint64_t active) {
  const TreeItem& item = tree_.items[n];
  uint64_t out = 0;
  for (;;) {
    const uint64_t waiting = inside(n + 1, item.end);
    if ((active | waiting) == 0 || group_.abandoned_) return out;
    if (gives_way_) {
      leave(n, active);
      return out;
    }
    const uint32_t now = next_iteration(item, active | waiting);
    const uint64_t runs = in_iteration(item, active, now);
    const uint64_t later = waiting & ~in_iteration(item, waiting, now);
    pending_ &= ~later;
    Flow flow;
    const uint64_t through = list(n + 1, item.body_end, runs, flow);
    pending_ |= later;
    out |= flow.breaks;
    active = (active & ~runs) | repeat(item, through | flow.continues);
  }
}

uint32_t WaveWalk::next_iteration(const TreeItem& item, uint64_t lanes) const {
  uint32_t least = ~0U;
  for_each_lane(
      lanes, [&](uint32_t i) { least = std::min(least, iterations_[item.loop * kMaxWave + i]); });
  return least;
}

uint64_t WaveWalk::in_iteration(const TreeItem& item, uint64_t lanes, uint32_t iteration) const {
  uint64_t found = 0;
  for_each_lane(lanes, [&](uint32_t i) {
    found |= uint64_t{iterations_[item.loop * kMaxWave + i] == iteration} << i;
  });
  return found;
}

uint64_t WaveWalk::repeat(const TreeItem& item, uint64_t lanes) {
  uint64_t go_on = 0;
  for_each_lane(lanes, [&](uint32_t i) {
    ++iteration(item, i);
    if (!item.counts || group_.count_step(lane(i), item.site)) go_on |= uint64_t{1} << i;
  });
  if (lanes != 0 && !group_.slice_goes_on()) gives_way_ = true;
  return go_on;
}

uint64_t WaveWalk::block(uint32_t n, uint64_t active) {
  const TreeItem& item = tree_.items[n];
  for (uint32_t position = item.first; position <= item.last; ++position) {
    uint64_t waited = 0;
    for_each_lane(inside(n, n + 1), [&](uint32_t i) {
      if (lane(i).position == position) waited |= uint64_t{1} << i;
    });
    pending_ &= ~waited;
    active = step(n, position, active, waited);
  }
  return active;
}

/// One instruction, or the end of the block. `waited`: lanes that this walk takes in here.
uint64_t WaveWalk::step(uint32_t n, uint32_t position, uint64_t active, uint64_t waited) {
  uint64_t at_wave = 0;
  for_each_lane(waited, [&](uint32_t i) {
    const uint64_t bit = uint64_t{1} << i;
    const LaneState state = lane(i).state;
    if (state == LaneState::ready) active |= bit;
    if (state == LaneState::at_wave) at_wave |= bit;
    if (state == LaneState::at_barrier) behind_ |= bit;
  });
  if (position == tree_.items[n].last) return active;
  uint64_t go_on = 0;
  for_each_lane(active, [&](uint32_t i) {
    const uint64_t bit = uint64_t{1} << i;
    Lane& l = lane(i);
    l.position = position;
    if (group_.step_in_wave(l)) {
      go_on |= bit;
    } else if (l.state == LaneState::at_wave) {
      at_wave |= bit;
    } else if (l.state != LaneState::ended) {
      leave(n, bit);
    }
  });
  return at_wave == 0 ? go_on : go_on | wave_op(n, at_wave);
}

/// The lanes wait at a cross-lane operation; returns those for which it has been carried out.
uint64_t WaveWalk::wave_op(uint32_t n, uint64_t lanes) {
  uint64_t done = 0, stay = 0;
  while (lanes != 0) {
    const Lane& first = lane(static_cast<uint32_t>(std::countr_zero(lanes)));
    const uint64_t members = group_.member_mask(first);
    uint64_t together = 0;
    for_each_lane(lanes, [&](uint32_t i) {
      together |= uint64_t{group_.member_mask(lane(i)) == members} << i;
    });
    lanes &= ~together;
    const bool rendezvous = group_.at_rendezvous(first);
    const uint64_t all = rendezvous ? group_.lanes_at(wave_, first) : together;
    const bool complete =
        rendezvous ? group_.is_complete(wave_, first, all, group_.live_mask(wave_)) : behind_ == 0;
    if (force_ || complete) {
      group_.run_wave_op(wave_, all);
      force_ = false;
      done |= together;
    } else {
      stay |= together;
    }
  }
  leave(n, stay);
  return done;
}

}  // namespace lanewise::reference
