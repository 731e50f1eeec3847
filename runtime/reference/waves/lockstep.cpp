#include "runtime/reference/waves/lockstep.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::reference {
namespace {

using Kind = ir::Node::Kind;

void append(const std::vector<ir::Node>& nodes, const DecodedProgram& program, TreeList& tree) {
  for (const ir::Node& n : nodes) {
    const size_t own = tree.items.size();
    TreeItem item{.kind = n.kind, .value = n.value};
    if (!n.cond.always()) item.cond = program.slots[n.cond.reg.id];
    item.negate = n.cond.negate;
    if (n.reg.valid()) item.reg = program.slots[n.reg.id];
    item.counts = n.counts;
    item.site = n.site;
    if (n.kind == Kind::block) {
      item.first = item.last = program.blocks[n.block];
      while (program.codes[item.last].action < Action::jump) ++item.last;
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

Lockstep::Lockstep(Group& group, const DecodedProgram& program, std::vector<Wave>& waves) {
  append(program.order->tree.body, program, tree);
  for (Wave& wave : waves) walks.emplace_back(group, tree, wave);
}

WaveWalk::WaveWalk(Group& group, const TreeList& tree, Wave& wave)
    : group_(group), tree_(tree), wave_(wave), iterations_(size_t{tree.loops} * kMaxWave) {}

void WaveWalk::start() {
  if (!tree_.items.empty()) wait_before(0, wave_.live);
}

void WaveWalk::run(bool force) {
  group_.start_slice();
  force_ = force;
  gives_way_ = false;
  behind_ = 0;
  pending_ = wave_.live;
  const auto all = static_cast<uint32_t>(tree_.items.size());
  Flow none;
  group_.end(wave_, all == 0 ? pending_ : list(0, all, 0, none));
  wave_.activate(0);
}

/// Pending lanes that wait somewhere in [from, to).
uint64_t WaveWalk::inside(uint32_t from, uint32_t to) const {
  return lanes_of(pending_, [&](uint32_t i) { return at_[i] >= from && at_[i] < to; });
}

/// The lanes come to item `n` in a later walk.
void WaveWalk::wait_before(uint32_t n, uint64_t lanes) {
  const TreeItem& item = tree_.items[n];
  for_each_lane(lanes, [&](uint32_t i) {
    if (item.kind == Kind::block) wave_.position[i] = item.first;
    if (item.kind == Kind::loop) iteration(item, i) = 0;
  });
  leave(n, lanes);
}

void WaveWalk::leave(uint32_t n, uint64_t lanes) {
  for_each_lane(lanes, [&](uint32_t i) { at_[i] = n; });
  behind_ |= lanes;
}

uint64_t WaveWalk::where(const TreeItem& item, uint64_t lanes) const {
  if (item.cond == ir::kNone) return lanes;
  const uint64_t pred = *wave_.at<uint64_t>(offset_of(item.cond));
  return lanes & (item.negate ? ~pred : pred);
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
      const uint64_t then = where(item, active);
      const uint64_t one = list(n + 1, item.body_end, then, flow);
      return one | list(item.body_end, item.end, active & ~then, flow);
    }
    case Kind::loop:
      return loop(n, active);
    case Kind::scope: {
      Flow inner;
      const uint64_t through = list(n + 1, item.body_end, active, inner);
      return through | inner.breaks;
    }
    case Kind::break_:
      flow.breaks |= active;
      return 0;
    case Kind::continue_:
      flow.continues |= active;
      return 0;
    case Kind::exit:
      group_.end(wave_, active);
      return 0;
    case Kind::assign:
      for_each_lane(active, [&](uint32_t i) { wave_.set(item.reg, i, item.value); });
      return active;
  }
  return active;
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
  return lanes_of(lanes,
                  [&](uint32_t i) { return iterations_[item.loop * kMaxWave + i] == iteration; });
}

uint64_t WaveWalk::repeat(const TreeItem& item, uint64_t lanes) {
  const uint64_t go_on = lanes_of(lanes, [&](uint32_t i) {
    ++iteration(item, i);
    return !item.counts || group_.count_step({wave_, i}, item.site);
  });
  if (lanes != 0 && !group_.slice_goes_on()) {
    group_.use_up_slice(1);
    gives_way_ = true;
  }
  return go_on;
}

uint64_t WaveWalk::block(uint32_t n, uint64_t active) {
  const TreeItem& item = tree_.items[n];
  for (uint32_t position = item.first; position <= item.last;) {
    const uint64_t waiting = inside(n, n + 1);
    uint32_t next = position;
    if (waiting == 0) {
      // Up to where lanes may stop.
      while (next < item.last && !wave_.codes[next].may_stop) ++next;
      active = run_codes(position, next, active);
      if (next == item.last) return active;
    }
    const uint64_t waited =
        lanes_of(waiting, [&](uint32_t i) { return wave_.position[i] == next; });
    pending_ &= ~waited;
    active = step(n, next, active, waited);
    position = next + 1;
  }
  return active;
}

/// Instructions at which no lane waits.
uint64_t WaveWalk::run_codes(uint32_t from, uint32_t to, uint64_t active) {
  if (active == 0) return 0;
  wave_.activate(active);
  const Code *code = wave_.codes + from, *end = wave_.codes + to;
  while (code != end) code = code->run[wave_.single](wave_, code);
  return active;
}

/// One instruction, or the end of the block. `waited`: lanes that this walk takes in here.
uint64_t WaveWalk::step(uint32_t n, uint32_t position, uint64_t active, uint64_t waited) {
  active |= waited & wave_.ready();
  behind_ |= waited & wave_.at_barrier;
  uint64_t at_wave = waited & wave_.at_wave;
  if (position == tree_.items[n].last) return active;
  const Code& code = wave_.codes[position];
  if (!code.may_stop) {
    run_codes(position, position + 1, active);
    return at_wave == 0 ? active : active | wave_op(n, at_wave);
  }
  if (active != 0) {
    wave_.activate(active);
    code.run[wave_.single](wave_, &code);
  }
  const uint64_t stopped = active & wave_.live & ~wave_.mask;
  at_wave |= stopped & wave_.at_wave;
  leave(n, stopped & ~wave_.at_wave);
  const uint64_t go_on = active & wave_.mask;
  return at_wave == 0 ? go_on : go_on | wave_op(n, at_wave);
}

/// The lanes wait at a cross-lane operation; returns those for which it has been carried out.
uint64_t WaveWalk::wave_op(uint32_t n, uint64_t lanes) {
  uint64_t done = 0, stay = 0;
  while (lanes != 0) {
    const Lane first{wave_, static_cast<uint32_t>(std::countr_zero(lanes))};
    const uint64_t members = Group::member_mask(first);
    const uint64_t together = lanes_of(lanes, [&](uint32_t i) {
      return Group::member_mask({wave_, i}) == members;
    });
    lanes &= ~together;
    const bool rendezvous = Group::at_rendezvous(first);
    const uint64_t all = rendezvous ? group_.lanes_at(wave_, first) : together;
    const bool complete = rendezvous ? group_.is_complete(wave_, first, all) : behind_ == 0;
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
