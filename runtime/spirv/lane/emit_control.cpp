// Structured control flow: nodes of the structuriser to selections, loops and scopes of SPIR-V.
#include <algorithm>

#include "runtime/guest/engine.hpp"
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::Node;

// Words of the launch block (shaders/INTERFACE.md).
constexpr uint32_t kBudgetWord = host_shader::LAUNCH_STEP_BUDGET;
/// Every so many iterations of a loop with barriers the group asks whether the host wants it to
/// stop.
constexpr uint32_t kAbortPeriod = 1024;

}  // namespace

void LaneEmitter::nodes(const std::vector<Node>& list) {
  for (const Node& n : list) {
    // What follows a break, a continue or an exit is never reached.
    if (m_.terminated()) return;
    node(n);
  }
}

void LaneEmitter::node(const Node& n) {
  switch (n.kind) {
    case Node::Kind::block:
      return run_block(n.block);
    case Node::Kind::if_:
      return masked() ? masked_if(n) : emit_if(n);
    case Node::Kind::loop:
      return masked() ? masked_loop(n) : emit_loop(n);
    case Node::Kind::scope:
      return masked() ? masked_scope(n) : emit_scope(n);
    case Node::Kind::exit:
      return masked() ? masked_jump(n) : leave();
    case Node::Kind::assign:
      if (masked()) return masked_jump(n);
      write(n.reg.id, m_.b(n.value));
      return flush();
    case Node::Kind::break_:
    case Node::Kind::continue_:
      return masked() ? masked_jump(n) : leave_construct(n);
  }
}

/// A break or continue, of all lanes that are here.
void LaneEmitter::leave_construct(const Node& n) {
  Construct& inner = constructs_.back();
  const bool leaves = n.kind == Node::Kind::break_;
  (leaves ? inner.broken : inner.continued) = true;
  if (leaves) write_mark(inner.mark);
  m_.create_branch(leaves ? inner.break_to : inner.continue_to);
}

void LaneEmitter::run_block(uint32_t block) {
  block_ = block;
  ++this_block_;
  run_range(0, program_.blocks[block].insts.size());
  if (m_.terminated()) {
    for (Slot& slot : slots_)
      slot.dirty.clear();  // the lane has ended: nobody reads what it has written
    return;
  }
  const std::vector<uint32_t>& live = live_.out[block];
  flush([&](uint32_t reg) { return std::ranges::binary_search(live, reg); });
}

void LaneEmitter::leave() {
  m_.make_return();
}

void LaneEmitter::emit_if(const Node& n) {
  const Id condition = guard_value(n.cond);
  Block* then = m_.new_block();
  Block* merge = m_.new_block();
  Block* otherwise = n.otherwise.empty() ? merge : m_.new_block();
  m_.create_selection_merge(merge);
  m_.create_conditional_branch(condition, then, otherwise);

  // Values known here stay known in both arms; what the arms learn does not reach the other one.
  const KnownValues values = known_values();
  const uint32_t before = writes_;
  bool reached = n.otherwise.empty();
  const auto arm = [&](Block* entry, const std::vector<Node>& body) {
    m_.set_build_point(entry);
    nodes(body);
    if (!m_.terminated()) {
      m_.create_branch(merge);
      reached = true;
    }
  };
  arm(then, n.body);
  if (!n.otherwise.empty()) {
    set_known_values(values);
    arm(otherwise, n.otherwise);
  }
  forget_but(values, before);
  m_.set_build_point(merge);
  if (!reached) m_.unreachable();
}

void LaneEmitter::emit_scope(const Node& n) {
  Block* body = m_.new_block();
  Block* merge = m_.new_block();
  m_.enter_scope(body, merge);
  constructs_.push_back({merge, nullptr, spv::NoResult});
  const KnownValues values = known_values();
  const uint32_t before = writes_;
  nodes(n.body);
  bool reached = constructs_.back().broken;
  constructs_.pop_back();
  if (!m_.terminated()) {
    m_.create_branch(merge);
    reached = true;
  }
  forget_but(values, before);
  m_.set_build_point(merge);
  if (!reached) m_.unreachable();
}

bool LaneEmitter::has_barrier(const std::vector<Node>& list) const {
  for (const Node& n : list) {
    if (n.kind == Node::Kind::block) {
      for (const ir::Inst& inst : program_.blocks[n.block].insts)
        if (inst.op == ir::Op::barrier ||
            (!masked() && ir::info(inst.op).trait == ir::OpTrait::wave))
          return true;
    }
    if (has_barrier(n.body) || has_barrier(n.otherwise)) return true;
  }
  return false;
}

bool LaneEmitter::has_node(const std::vector<Node>& list, Node::Kind kind) {
  return std::ranges::any_of(list, [&](const Node& n) {
    return n.kind == kind || has_node(n.body, kind) || has_node(n.otherwise, kind);
  });
}

/// One lane's look at the host's wish, every so many iterations, shared with the others.
Id LaneEmitter::group_must_stop(Id iterations) {
  const Id phase = m_.word(spv::OpBitwiseAnd, {iterations, m_.u(kAbortPeriod - 1)});
  const Id ask = m_.equals(phase, 0);
  const Id answer = m_.create_variable(spv::StorageClassFunction, m_.uint_type);
  m_.create_store(m_.u(0), answer);
  when(ask, [&] {
    const Id first = m_.equals(lane(), 0);
    when(first, [&] {
      const Id aborted = library("lw_aborted", m_.bool_type, {});
      m_.create_store(m_.select(aborted, m_.u(1), m_.u(0)), frame_.vote);
    });
    library("lw_barrier", m_.void_type, {});
    m_.create_store(m_.create_load(frame_.vote), answer);
    library("lw_barrier", m_.void_type, {});
  });
  return m_.differs(m_.create_load(answer), 0);
}

/// In a loop that holds barriers all lanes of the group must leave together, so the decision is
/// made from values that all of them share: their common number of iterations, and one lane's look
/// at the host's wish to stop, shared with the others.
Id LaneEmitter::group_may_go_on(uint32_t site) {
  const Id iterations = m_.word(spv::OpIAdd, {m_.create_load(frame_.steps), m_.u(1)});
  m_.create_store(iterations, frame_.steps);
  // A driver that leaves loops by itself soon ends them all; a look costs it more than it is worth.
  Id aborted = m_.b(false);
  if (!target_.quirks.cuts_loops) aborted = group_must_stop(iterations);
  const Id budget = at_start([&] {
    const Id wide = m_.differs(launch_word(kBudgetWord + 1), 0);
    return m_.select(wide, m_.u(0xffffffff), launch_word(kBudgetWord));
  });
  const Id over = m_.test(spv::OpUGreaterThan, {iterations, budget});
  when(both(over, active()), [&] { state().note(FaultKind::step_budget, site); });
  const Id stop = m_.test(spv::OpLogicalOr, {over, aborted});
  return m_.negated(stop);
}

/// Compilers believe in a loop's exits: what a lane writes when it leaves by itself is what they
/// find behind it, also where the driver left the loop for the lane. Shared memory hides it. So
/// does an OpPhi behind a loop with an exit that no lane takes (binary/loop_exits.hpp), at no
/// cost for the lanes that stay: it is a register that lanes write as they leave. Others find there
/// what an earlier loop wrote, so each loop that begins has a word of its own.
LaneEmitter::LoopMark LaneEmitter::begin_mark() {
  if (!target_.quirks.cuts_loops) return {};
  if (!target_.quirks.marks_in_registers()) {
    library("lw_loop_mark", m_.void_type, {m_.u(0)});
    return {.number = ++loops_};
  }
  const Id variable = m_.create_variable(spv::StorageClassFunction, m_.uint_type, "loop_mark");
  m_.create_store(m_.u(0), variable);
  const Id before = m_.create_load(frame_.loop_entries);
  const Id entry = m_.word(spv::OpIAdd, {before, m_.u(1)});
  m_.create_store(entry, frame_.loop_entries);
  return {.variable = variable, .entry = entry};
}

void LaneEmitter::write_mark(const LoopMark& mark) {
  if (mark.variable != spv::NoResult) m_.create_store(mark.entry, mark.variable);
  if (mark.number != 0) library("lw_loop_mark", m_.void_type, {m_.u(mark.number)});
}

Id LaneEmitter::was_marked(const LoopMark& mark) {
  if (mark.number != 0) return library("lw_loop_left", m_.bool_type, {m_.u(mark.number)});
  const Id found = m_.create_load(mark.variable);
  return m_.test(spv::OpIEqual, {found, mark.entry});
}

/// True when the lane did not leave the loop by its own decision: its budget was used up, the
/// launch was asked to , or the driver left the loop for it. That is a fault like a used-up
/// budget.
Id LaneEmitter::not_left(const LoopMark& mark, uint32_t site) {
  const Id stopped = m_.negated(was_marked(mark));
  when(stopped, [&] { state().cut_by_driver(site, kCutHere); });
  return stopped;
}

/// Of a loop's iterations, the second begins with what the first has written.
void LaneEmitter::will_write(const std::vector<Node>& list) {
  for (const Node& n : list) {
    if (n.kind == Node::Kind::assign) written_at_[n.reg.id] = ++writes_;
    if (n.kind == Node::Kind::block)
      for (const ir::Inst& inst : program_.blocks[n.block].insts)
        for (const ir::Reg reg : inst.dst)
          if (reg.valid()) written_at_[reg.id] = ++writes_;
    will_write(n.body);
    will_write(n.otherwise);
  }
}

void LaneEmitter::emit_loop(const Node& n) {
  const bool together = frame_.stopped != spv::NoResult && has_barrier(n.body);
  Block* header = m_.new_block();
  Block* body = m_.new_block();
  Block* again = m_.new_block();
  Block* merge = m_.new_block();
  const Id stop = m_.create_variable(spv::StorageClassFunction, m_.bool_type);
  m_.create_store(m_.b(false), stop);
  const LoopMark mark = begin_mark();
  const bool own_steps = n.counts && !shape_.checks_limit_once && !together;
  const bool simple =
      !has_node(n.body, Node::Kind::loop) && !has_node(n.body, Node::Kind::continue_);
  const Id ahead = own_steps && simple ? state().begin_steps() : spv::NoResult;
  m_.create_branch(header);
  const KnownValues values = known_values();
  const uint32_t before = writes_;
  will_write(n.body);
  forget_but(values, before);

  m_.set_build_point(header);
  m_.guest_loop(merge, again);
  m_.create_branch(body);

  m_.set_build_point(body);
  constructs_.push_back({merge, again, mark});
  nodes(n.body);
  const Construct construct = constructs_.back();
  constructs_.pop_back();
  bool repeats = construct.continued;
  bool counts = n.counts && !shape_.checks_limit_once;
  bool counted = false;
  if (!m_.terminated()) {
    // Iterations that continue elsewhere count at the back edge.
    const auto leave = [&] {
      m_.create_store(m_.b(true), stop);
      m_.create_branch(merge);
    };
    if (own_steps && !construct.continued) {
      counted = ahead != spv::NoResult || state().step_or(leave);
      if (ahead != spv::NoResult) state().step_together(ahead, leave);
    }
    m_.create_branch(again);
    repeats = true;
  }
  counts = counts && repeats;

  m_.set_build_point(again);
  if (shape_.checks_limit_once && repeats && !construct.broken) {
    // The guest never leaves the loop, the driver does: compilers ask for an exit.
    const Id spare = launch_word(kLaunchSpareWord);
    const Id always = m_.equals(spare, 0);
    m_.create_conditional_branch(always, header, merge);
  } else if (!counts || counted) {
    m_.create_branch(header);
  } else {
    const Id go_on = together ? group_may_go_on(n.site) : state().step();
    m_.create_store(m_.negated(go_on), stop);
    m_.create_conditional_branch(go_on, header, merge);
  }

  forget_but(values, before);
  m_.set_build_point(merge);
  if (!repeats && !construct.broken) return m_.unreachable();
  if (ahead != spv::NoResult) state().end_steps(ahead);
  if (!repeats || (!counts && !mark.any())) return;
  const Id halted = counts ? m_.create_load(stop) : m_.b(false);
  if (counts && !together) when(halted, [&] { note_budget(n.site); });
  const Id stopped = mark.any() ? not_left(mark, n.site) : halted;
  if (frame_.stopped != spv::NoResult && !together) {
    // Other lanes may still wait for this one at a barrier: it goes on, but touches no memory.
    when(stopped, [&] { m_.create_store(m_.b(true), frame_.stopped); });
  } else {
    when(stopped, [&] { end_lane(); });
  }
}

/// The lane was stopped at a back edge: a fault when its budget is used up.
void LaneEmitter::note_budget(uint32_t site) {
  LaneState& s = state();
  s.note(s.out_of_steps(), m_.u(s.points().number(FaultKind::step_budget, site)), m_.u(0), m_.u(0));
}

/// The lane ends before its program does.
void LaneEmitter::end_lane() {
  if (frame_.resume != spv::NoResult) m_.create_store(m_.u(ir::kPhaseEnded), frame_.resume);
  leave();
}

void LaneEmitter::emit_report() {
  const auto note = [&] { state().note(static_cast<FaultKind>(inst_->mode), inst_->site); };
  const Id guard = inst_->guard.always() ? spv::NoResult : guard_value(inst_->guard);
  const Id taken = both(guard, active());
  if (taken == spv::NoResult) return note();
  when(taken, note);
}

void LaneEmitter::emit_trap() {
  if (masked()) return masked_trap();
  const auto fall = [&] {
    state().note(static_cast<FaultKind>(inst_->mode), inst_->site);
    end_lane();
  };
  if (inst_->guard.always()) return fall();
  when(guard_value(inst_->guard), fall);
}

}  // namespace lanewise::spirv
