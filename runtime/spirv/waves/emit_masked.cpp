// Wave mode: structured control flow as a wave walks it. A condition that lanes decide alike is a
// branch; any other makes one side after the other run for the lanes that want it, under masks. A
// side that no lane of the subgroup wants is jumped over, so the driver sees no divergence.
#include <algorithm>

#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::Node;
using Nodes = std::vector<Node>;

/// Some lane may end in there.
bool ends_lanes(const Nodes& list, const ir::Program& program) {
  return std::ranges::any_of(list, [&](const Node& n) {
    if (n.kind == Node::Kind::exit) return true;
    if (n.kind == Node::Kind::block)
      return std::ranges::any_of(program.blocks[n.block].insts,
                                 [](const ir::Inst& i) { return i.op == ir::Op::trap; });
    return ends_lanes(n.body, program) || ends_lanes(n.otherwise, program);
  });
}

/// A break or continue of the construct that the list belongs to.
bool jumps(const Nodes& list) {
  return std::ranges::any_of(list, [](const Node& n) {
    if (n.kind == Node::Kind::break_ || n.kind == Node::Kind::continue_) return true;
    return n.kind == Node::Kind::if_ && (jumps(n.body) || jumps(n.otherwise));
  });
}

/// Lanes may go through the construct's breaks and continues without the others.
template <typename Uniform>
bool diverges(const Nodes& list, const Uniform& uniform) {
  return std::ranges::any_of(list, [&](const Node& n) {
    if (n.kind != Node::Kind::if_) return false;
    if (!uniform(n)) return jumps(n.body) || jumps(n.otherwise);
    return diverges(n.body, uniform) || diverges(n.otherwise, uniform);
  });
}

/// Lanes may end in there without the others.
template <typename Uniform>
bool ends_divergently(const Nodes& list, const ir::Program& program, const Uniform& uniform) {
  return std::ranges::any_of(list, [&](const Node& n) {
    if (n.kind == Node::Kind::exit) return false;
    if (n.kind == Node::Kind::block || (n.kind == Node::Kind::if_ && !uniform(n)))
      return ends_lanes({n}, program);
    return ends_divergently(n.body, program, uniform) ||
           ends_divergently(n.otherwise, program, uniform);
  });
}

}  // namespace

/// Some lane may end before others do.
bool LaneEmitter::ends_apart(const Nodes& list, bool apart) const {
  return std::ranges::any_of(list, [&](const Node& n) {
    if (n.kind == Node::Kind::exit) return apart;
    if (n.kind == Node::Kind::block) return ends_lanes({n}, program_);
    const bool inner = apart || n.kind != Node::Kind::if_ || !uniform_condition(n);
    return ends_apart(n.body, inner) || ends_apart(n.otherwise, inner);
  });
}

bool LaneEmitter::uniform_condition(const Node& n) const {
  return n.cond.always() || uniform_[n.cond.reg.id];
}

/// Some construct is left divergently, or may be without an active lane.
bool LaneEmitter::diverges_anywhere(const Nodes& list) const {
  return std::ranges::any_of(list, [this](const Node& n) {
    const bool construct = n.kind == Node::Kind::loop || n.kind == Node::Kind::scope;
    const bool divergent = n.kind == Node::Kind::if_ && !uniform_condition(n);
    const auto uniform = [this](const Node& inner) { return uniform_condition(inner); };
    return (construct && diverges(n.body, uniform)) || n.kind == Node::Kind::assign ||
           ((construct || divergent) && ends_lanes(n.body, program_)) ||
           (divergent && ends_lanes(n.otherwise, program_)) || diverges_anywhere(n.body) ||
           diverges_anywhere(n.otherwise);
  });
}

/// What the active lanes agree on; lanes that are inactive may hold anything.
Id LaneEmitter::condition_of_wave(const Node& n) {
  if (full_ || n.cond.always() || shared_[n.cond.reg.id]) return guard_value(n.cond);
  Ids wanted;
  in_slots([&](uint32_t) { wanted.push_back(both(guard_value(n.cond), active())); });
  return any_of(wanted);
}

/// Runs `body` where `condition` holds, which is the same in the whole subgroup.
void LaneEmitter::run_guarded(Id condition, const std::function<void()>& body) {
  const bool full = full_;
  const Ids before = masks();
  m_.when(condition, body);
  forget();
  full_ = full;
  for (Slot& slot : slots_) slot.active = before[slot.number];
}

/// Masks may have changed on the way here, but by how much is known in memory only.
void LaneEmitter::reload_masks() {
  for (Slot& slot : slots_) slot.active = spv::NoResult;
}

/// From here on masks are variables, since some path through what follows changes them.
void LaneEmitter::keep_masks_if(bool changes) {
  if (!full_ || !changes) return;
  in_slots([&](uint32_t) { set_active(m_.b(true)); });
  full_ = false;
}

void LaneEmitter::uniform_if(const Node& n) {
  const bool parks = jumps(n.body) || jumps(n.otherwise) || ends_lanes(n.body, program_) ||
                     ends_lanes(n.otherwise, program_);
  const Id condition = condition_of_wave(n);
  keep_masks_if(parks);
  const bool full = full_;
  const Ids before = masks();
  Block* then = m_.new_block();
  Block* merge = m_.new_block();
  Block* otherwise = n.otherwise.empty() ? merge : m_.new_block();
  m_.create_selection_merge(merge);
  m_.create_conditional_branch(condition, then, otherwise);
  bool reached = n.otherwise.empty();
  const auto arm = [&](Block* entry, const Nodes& body) {
    m_.set_build_point(entry);
    full_ = full;
    for (Slot& slot : slots_) slot.active = before[slot.number];
    nodes(body);
    if (!m_.terminated()) {
      m_.create_branch(merge);
      reached = true;
    }
    forget();
  };
  // What is known here is known in the first arm; the second one reads its registers again.
  arm(then, n.body);
  if (!n.otherwise.empty()) arm(otherwise, n.otherwise);
  forget();
  m_.set_build_point(merge);
  full_ = full;
  for (Slot& slot : slots_) slot.active = parks ? spv::NoResult : before[slot.number];
  if (!reached) m_.unreachable();
}

void LaneEmitter::masked_if(const Node& n) {
  if (uniform_condition(n)) return uniform_if(n);
  const Ids before = masks();
  Ids wanting, others;
  in_slots([&](uint32_t k) {
    const Id condition = guard_value(n.cond);
    wanting.push_back(both(condition, before[k]));
    others.push_back(both(inverse(condition), before[k]));
  });
  ++divergence_;
  const auto side = [&](const Ids& lanes, const Nodes& body) {
    set_masks(lanes);
    run_guarded(any_of(lanes), [&] { nodes(body); });
    if (!jumps(body) && !ends_lanes(body, program_)) return lanes;
    reload_masks();
    full_ = false;
    return masks();
  };
  const Ids through = n.body.empty() ? wanting : side(wanting, n.body);
  const Ids across = n.otherwise.empty() ? others : side(others, n.otherwise);
  --divergence_;
  if (through == wanting && across == others) return set_masks(before);
  Ids after;
  for (size_t k = 0; k < before.size(); ++k)
    after.push_back(m_.test(spv::OpLogicalOr, {through[k], across[k]}));
  set_masks(after);
}

Ids LaneEmitter::lane_flags(const char* name) {
  Ids variables;
  for (size_t k = 0; k < slots_.size(); ++k) {
    variables.push_back(m_.create_variable(spv::StorageClassFunction, m_.bool_type, name));
    m_.create_store(m_.b(false), variables.back());
  }
  return variables;
}

/// The active lanes are inactive until the construct says otherwise.
void LaneEmitter::deactivate(const Ids& variables) {
  in_slots([&](uint32_t k) {
    const Id mask = active() == spv::NoResult ? m_.b(true) : active();
    const Id there = m_.create_load(variables[k]);
    m_.create_store(m_.test(spv::OpLogicalOr, {there, mask}), variables[k]);
  });
  set_masks(Ids(slots_.size(), m_.b(false)));
}

Ids LaneEmitter::reactivated(const Ids& lanes, const Ids& variables) {
  Ids all;
  for (size_t k = 0; k < lanes.size(); ++k) {
    const Id there = m_.create_load(variables[k]);
    all.push_back(m_.test(spv::OpLogicalOr, {lanes[k], there}));
  }
  return all;
}

void LaneEmitter::masked_scope(const Node& n) {
  const auto uniform = [this](const Node& inner) { return uniform_condition(inner); };
  const bool ends = ends_lanes(n.body, program_);
  if (!diverges(n.body, uniform)) {
    keep_masks_if(ends);
    const bool full = full_;
    emit_scope(n);
    full_ = full;
    return reload_masks();
  }
  const Ids before = masks();
  keep_masks_if(true);
  Construct construct{nullptr, nullptr, 0};
  construct.left = lane_flags("left");
  constructs_.push_back(construct);
  ++divergence_;
  nodes(n.body);
  --divergence_;
  constructs_.pop_back();
  if (!ends) return set_masks(before);
  set_masks(reactivated(masks(), construct.left));
}

/// The loop was left for the lanes `who`: their budget is used up, the host wants the launch to
/// end, or the driver cut the loop. The launch is over for the whole wave.
void LaneEmitter::stop_wave(const Ids& who, Id stopped, uint32_t site, bool group) {
  // Other waves may still wait for this one at a barrier: then it goes on, but touches no memory.
  const bool goes_on = frame_.stopped != spv::NoResult && !group;
  when(stopped, [&] {
    if (target_.quirks.cuts_loops) {
      const Id aborted = library("lw_aborted", m_.bool_type, {});
      in_slots([&](uint32_t k) {
        const Id cut = both(who[k], m_.negated(aborted));
        state().note(cut, m_.u(state().points().number(FaultKind::step_budget, site)),
                     m_.u(kCutHere), m_.u(0));
      });
    }
    if (goes_on) {
      m_.create_store(m_.b(true), frame_.stopped);
    } else {
      leave();
    }
  });
}

/// Without a lane nobody would decide to leave the loop.
void LaneEmitter::masked_loop(const Node& n) {
  if (full_) return loop_of_wave(n);
  run_guarded(any_of(masks()), [&] { loop_of_wave(n); });
  const bool ends = ends_lanes(n.body, program_);
  if (ends) reload_masks();
}

void LaneEmitter::loop_of_wave(const Node& n) {
  const auto uniform = [this](const Node& inner) { return uniform_condition(inner); };
  const bool ends = ends_lanes(n.body, program_);
  // Where the last lane may end, somebody has to notice that.
  const bool divergent = diverges(n.body, uniform) ||
                         (divergence_ > 0 ? ends : ends_divergently(n.body, program_, uniform));
  const bool group = frame_.stopped != spv::NoResult && has_barrier(n.body);
  const Ids before = masks();
  keep_masks_if(divergent || ends);
  const bool full = full_;
  Block* header = m_.new_block();
  Block* body = m_.new_block();
  Block* again = m_.new_block();
  Block* merge = m_.new_block();
  const auto flag = [&] {
    const Id id = m_.create_variable(spv::StorageClassFunction, m_.bool_type);
    m_.create_store(m_.b(false), id);
    return id;
  };
  const Id stop = flag(), go_on = flag();
  const LoopMark mark = begin_mark();
  Construct construct{merge, again, mark};
  if (divergent) {
    construct.left = lane_flags("left");
    construct.continues = lane_flags("continues");
  }
  m_.create_branch(header);
  forget();
  reload_masks();

  m_.set_build_point(header);
  m_.guest_loop(merge, again);
  m_.create_branch(body);

  m_.set_build_point(body);
  constructs_.push_back(construct);
  if (divergent) ++divergence_;
  nodes(n.body);
  if (divergent) --divergence_;
  construct = constructs_.back();
  constructs_.pop_back();
  bool repeats = construct.continued;
  if (!m_.terminated()) {
    m_.create_branch(again);
    repeats = true;
  }
  forget();
  full_ = full;
  reload_masks();

  m_.set_build_point(again);
  if (!repeats) {
    m_.create_branch(header);
  } else {
    Id some = m_.b(true);
    if (divergent) {
      set_masks(reactivated(masks(), construct.continues));
      for (const Id variable : construct.continues) m_.create_store(m_.b(false), variable);
      some = any_of(masks());
      if (mark.any()) when(m_.negated(some), [&] { write_mark(mark); });
    }
    m_.create_store(m_.b(false), go_on);
    when(some, [&] {
      const Id more = !n.counts ? m_.b(true) : group ? group_may_go_on(n.site) : state().step();
      m_.create_store(more, go_on);
      m_.create_store(m_.negated(more), stop);
    });
    m_.create_conditional_branch(m_.create_load(go_on), header, merge);
  }

  forget();
  reload_masks();
  m_.set_build_point(merge);
  if (!repeats && !construct.broken) return m_.unreachable();
  if (repeats) {
    const Ids who = masks();
    const Id halted = m_.create_load(stop);
    if (n.counts && !group) {
      const Id used_up = both(halted, state().out_of_steps());
      in_slots([&](uint32_t k) {
        state().note(both(who[k], used_up),
                     m_.u(state().points().number(FaultKind::step_budget, n.site)), m_.u(0),
                     m_.u(0));
      });
    }
    Id stopped = halted;
    if (mark.any()) stopped = m_.negated(was_marked(mark));
    stop_wave(who, stopped, n.site, group);
  }
  if (!divergent) return;
  if (!ends) return set_masks(before);
  set_masks(reactivated(Ids(slots_.size(), m_.b(false)), construct.left));
}

void LaneEmitter::masked_jump(const Node& n) {
  switch (n.kind) {
    case Node::Kind::assign: {
      in_slots([&](uint32_t) {
        const Id value = m_.b(n.value), mask = active();
        write(n.reg.id, mask == spv::NoResult ? value : m_.select(mask, value, read(n.reg.id)));
      });
      return flush();
    }
    case Node::Kind::exit:
      if (divergence_ == 0) return leave();
      end_active();
      return set_masks(Ids(slots_.size(), m_.b(false)));
    default:
      break;
  }
  Construct& inner = constructs_.back();
  if (inner.left.empty()) return leave_construct(n);
  deactivate(n.kind == Node::Kind::break_ ? inner.left : inner.continues);
}

void LaneEmitter::masked_trap() {
  Ids rest;
  in_slots([&](uint32_t) {
    const Id guard = inst_->guard.always() ? m_.b(true) : guard_value(inst_->guard);
    const Id mask = active();
    const uint32_t point =
        state().points().number(static_cast<FaultKind>(inst_->mode), inst_->site);
    state().note(both(guard, mask), m_.u(point), m_.u(0), m_.u(0));
    rest.push_back(both(inverse(guard), mask));
  });
  end_active();
  set_masks(rest);
  if (slots_[0].ended != spv::NoResult) {
    in_slots([&](uint32_t k) {
      const Id goes_on = rest[k] == spv::NoResult ? m_.b(true) : rest[k];
      const Id ended = m_.create_load(slot_->ended);
      m_.create_store(both(ended, inverse(goes_on)), slot_->ended);
    });
  }
}

}  // namespace lanewise::spirv
