// Phase mode: lanes run from barrier to barrier; shaders/lib/phase.glsl keeps the group's counts.
#include "runtime/guest/engine.hpp"
#include "runtime/spirv/kernel_builder.hpp"

namespace lanewise::spirv {
namespace {

constexpr uint32_t kBarriers = 16;  // guest barriers 0 .. 15
// Results of lw_phase_turn.
constexpr uint32_t kAllEnded = 0, kSome = 1, kNone = 2;

}  // namespace

/// Per invocation, one element for each lane it carries.
struct KernelBuilder::PhaseState {
  struct Saved {
    Id array = spv::NoResult;
    Id variable = spv::NoResult;
    Id type = spv::NoResult;
  };
  std::vector<Saved> registers;  ///< carried registers, `resume` included
  std::vector<Id> array_of;      ///< [register], NoResult when not carried
  Id resume = spv::NoResult;     ///< array: where the lane goes on, kPhaseEnded when it has ended
  Id waiting = spv::NoResult;    ///< array: barrier index the lane waits at, 0 = none
  Id barrier = spv::NoResult;    ///< array: the guest barrier it waits at
  Id turn = spv::NoResult;
};

Id KernelBuilder::array_element(Id array, Id slot, Id type) {
  return m_.op(spv::OpAccessChain, m_.makePointer(spv::StorageClassPrivate, type), {array, slot});
}

void KernelBuilder::make_phase_variables(const ir::Phases& phases, PhaseState& state) {
  const ir::Program& program = phases.program;
  const Id length = m_.u(shape_.lanes_per_invocation);
  const auto array = [&](Id element, const char* name) {
    const Id type = m_.makeArrayType(element, length, 0);
    return private_variable(type, name, m_.makeNullConstant(type));
  };
  frame_.carried.assign(program.regs.size(), spv::NoResult);
  state.array_of.assign(program.regs.size(), spv::NoResult);
  const auto keep = [&](ir::Reg reg, bool across) {
    if (!reg.valid()) return;
    const Id type = m_.type_of(program.regs[reg.id].width);
    Id& variable = frame_.carried[reg.id];
    if (variable == spv::NoResult) {
      variable = private_variable(type, "carried", m_.makeNullConstant(type));
    }
    if (!across || state.array_of[reg.id] != spv::NoResult) return;
    state.array_of[reg.id] = array(type, "saved");
    state.registers.push_back({state.array_of[reg.id], variable, type});
  };
  for (const ir::Reg reg : phases.carried) keep(reg, true);
  keep(phases.resume, true);
  // Operands of barriers are looked at right after the phase; they need not survive another lane.
  keep(phases.barrier_id, false);
  keep(phases.barrier_count, false);
  for (const ir::Inst& barrier : phases.barriers)
    for (const ir::Operand& operand : barrier.src)
      if (operand.is_reg()) keep(operand.reg(), false);
  frame_.resume = frame_.carried[phases.resume.id];
  state.resume = state.array_of[phases.resume.id];
  state.waiting = array(m_.uint_type, "waiting");
  state.barrier = array(m_.uint_type, "waits_at");
  state.turn = private_variable(m_.uint_type, "turn", m_.u(0));
}

/// A value that depends on which barrier (1 ...) is meant.
Id KernelBuilder::barrier_value(const ir::Phases& phases, Id which,
                                const std::function<Id(const ir::Inst&)>& value_of) {
  Id value = value_of(phases.barriers[0]);
  for (size_t k = 1; k < phases.barriers.size(); ++k) {
    const Id other = value_of(phases.barriers[k]);
    if (other == value) continue;
    const Id meant =
        m_.op(spv::OpIEqual, m_.bool_type, {which, m_.u(static_cast<uint32_t>(k + 1))});
    value = m_.select(meant, other, value);
  }
  return value;
}

Id KernelBuilder::operand_of(const ir::Operand& operand, ir::Width width, Id when_dynamic) {
  if (operand.is_imm()) return m_.constant(width, operand.imm);
  if (when_dynamic != spv::NoResult) return m_.createLoad(when_dynamic, spv::NoPrecision);
  if (operand.is_reg()) {
    return m_.createLoad(frame_.carried[operand.index], spv::NoPrecision);
  }
  return m_.constant(width, 0);
}

void KernelBuilder::run_lane(const ir::Phases& phases, PhaseState& state, spv::Function* body,
                             Id slot) {
  const Id lane = lane_of(slot);
  m_.createStore(lane, frame_.lane);
  library("lw_set_lane", m_.void_type, {slot, lane});
  for (const auto& saved : state.registers) {
    const Id value = m_.createLoad(array_element(saved.array, slot, saved.type), spv::NoPrecision);
    m_.createStore(value, saved.variable);
  }
  if (phases.barriers.empty()) {
    m_.call_function(body);
  } else {
    // A loop around a barrier has no back edge inside a phase: each resumption counts as one.
    const Id at = m_.createLoad(frame_.resume, spv::NoPrecision);
    const Id resumed = m_.op(spv::OpINotEqual, m_.bool_type, {at, m_.u(0)});
    when(resumed, [&] {
      const Id site = barrier_value(phases, at, [&](const ir::Inst& b) { return m_.u(b.site); });
      const Id go_on = library("lw_step", m_.bool_type, {site});
      when(m_.op(spv::OpLogicalNot, m_.bool_type, {go_on}),
           [&] { m_.createStore(m_.u(ir::kPhaseEnded), frame_.resume); });
    });
    const Id now = m_.createLoad(frame_.resume, spv::NoPrecision);
    when(m_.op(spv::OpINotEqual, m_.bool_type, {now, m_.u(ir::kPhaseEnded)}),
         [&] { m_.call_function(body); });
    const Id ran = m_.createLoad(frame_.resume, spv::NoPrecision);
    when(m_.op(spv::OpINotEqual, m_.bool_type, {ran, m_.u(ir::kPhaseEnded)}),
         [&] { arrive(phases, state, slot); });
  }
  for (const auto& saved : state.registers) {
    const Id value = m_.createLoad(saved.variable, spv::NoPrecision);
    m_.createStore(value, array_element(saved.array, slot, saved.type));
  }
  const Id after = m_.createLoad(frame_.resume, spv::NoPrecision);
  when(m_.op(spv::OpIEqual, m_.bool_type, {after, m_.u(ir::kPhaseEnded)}), [&] {
    library("lw_end", m_.void_type, {});
    library("lw_phase_ended", m_.void_type, {});
  });
}

void KernelBuilder::arrive(const ir::Phases& phases, PhaseState& state, Id slot) {
  const auto dynamic = [&](ir::Reg reg) {
    return reg.valid() ? frame_.carried[reg.id] : spv::NoResult;
  };
  const Id which = m_.createLoad(frame_.resume, spv::NoPrecision);
  const Id id = barrier_value(phases, which, [&](const ir::Inst& b) {
    return operand_of(b.src[0], ir::Width::b32, dynamic(phases.barrier_id));
  });
  const Id count = barrier_value(phases, which, [&](const ir::Inst& b) {
    return b.src.size() > 1 ? operand_of(b.src[1], ir::Width::b32, dynamic(phases.barrier_count))
                            : m_.u(0);
  });
  const Id kind = barrier_value(phases, which, [&](const ir::Inst& b) { return m_.u(b.mode); });
  const Id vote = barrier_value(phases, which, [&](const ir::Inst& b) {
    return b.src.size() > 2 ? operand_of(b.src[2], ir::Width::pred, spv::NoResult) : m_.b(false);
  });
  const Id valid = m_.op(spv::OpULessThan, m_.bool_type, {id, m_.u(kBarriers)});
  when(m_.op(spv::OpLogicalNot, m_.bool_type, {valid}), [&] {
    const Id site = barrier_value(phases, which, [&](const ir::Inst& b) { return m_.u(b.site); });
    library("lw_fault", m_.void_type,
            {m_.u(static_cast<uint32_t>(FaultKind::illegal_instruction)), site, m_.u(0), m_.u(0),
             m_.u(0)});
    m_.createStore(m_.u(ir::kPhaseEnded), frame_.resume);
  });
  when(valid, [&] {
    const Id turn = m_.createLoad(state.turn, spv::NoPrecision);
    library("lw_phase_arrive", m_.void_type, {id, count, kind, vote, turn});
    const Id passes = m_.op(spv::OpIEqual, m_.bool_type,
                            {kind, m_.u(static_cast<uint32_t>(ir::BarrierKind::arrive))});
    m_.createStore(m_.select(passes, m_.u(0), which),
                   array_element(state.waiting, slot, m_.uint_type));
    m_.createStore(id, array_element(state.barrier, slot, m_.uint_type));
  });
}

/// Lets a waiting lane out when its barrier has opened, with the result of a reduction.
void KernelBuilder::release(const ir::Phases& phases, PhaseState& state, Id slot) {
  const Id place = array_element(state.waiting, slot, m_.uint_type);
  const Id which = m_.createLoad(place, spv::NoPrecision);
  const Id id = m_.createLoad(array_element(state.barrier, slot, m_.uint_type), spv::NoPrecision);
  const Id turn = m_.createLoad(state.turn, spv::NoPrecision);
  const Id open = library("lw_phase_released", m_.bool_type, {id, turn});
  when(open, [&] {
    m_.createStore(m_.u(0), place);
    for (size_t k = 0; k < phases.barriers.size(); ++k) {
      const ir::Inst& barrier = phases.barriers[k];
      if (barrier.dst.empty() || !barrier.dst[0].valid()) continue;
      const Id array = state.array_of[barrier.dst[0].id];
      if (array == spv::NoResult) continue;  // nobody reads the result
      const Id meant =
          m_.op(spv::OpIEqual, m_.bool_type, {which, m_.u(static_cast<uint32_t>(k + 1))});
      when(meant, [&] {
        const bool pred = phases.program.regs[barrier.dst[0].id].width == ir::Width::pred;
        Id value = library("lw_phase_result", m_.uint_type, {id, m_.u(barrier.mode)});
        if (pred) value = m_.op(spv::OpINotEqual, m_.bool_type, {value, m_.u(0)});
        m_.createStore(value, array_element(array, slot, pred ? m_.bool_type : m_.uint_type));
      });
    }
  });
}

/// The lane does not get to its end: nobody can go on (it waits at a barrier for ever), or the
/// driver has cut the loop over the turns.
void KernelBuilder::abandon(const ir::Phases& phases, PhaseState& state, Id outcome, Id slot) {
  const Id which =
      m_.createLoad(array_element(state.waiting, slot, m_.uint_type), spv::NoPrecision);
  library("lw_set_lane", m_.void_type, {slot, lane_of(slot)});
  const Id site = barrier_value(phases, which, [&](const ir::Inst& b) { return m_.u(b.site); });
  const Id stuck = m_.op(spv::OpIEqual, m_.bool_type, {outcome, m_.u(kNone)});
  const Id kind = m_.select(stuck, m_.u(static_cast<uint32_t>(FaultKind::barrier_divergence)),
                            m_.u(static_cast<uint32_t>(FaultKind::step_budget)));
  library("lw_fault", m_.void_type, {kind, site, m_.u(0), m_.u(0), m_.u(0)});
  library("lw_end", m_.void_type, {});
}

void KernelBuilder::build_phases(const ir::Phases& phases) {
  PhaseState state;
  make_phase_variables(phases, state);
  spv::Function* body = build_body(phases.program);
  begin_entry();
  const Id size = m_.u(shape_.local_size);
  library("lw_phase_begin", m_.void_type, {invocation_, size, m_.u(shape_.lanes)});
  const auto load = [&](Id array, Id slot) {
    return m_.createLoad(array_element(array, slot, m_.uint_type), spv::NoPrecision);
  };
  const auto living = [&](Id slot) {
    return m_.op(spv::OpINotEqual, m_.bool_type, {load(state.resume, slot), m_.u(ir::kPhaseEnded)});
  };
  const auto waits = [&](Id slot) {
    return m_.op(spv::OpINotEqual, m_.bool_type, {load(state.waiting, slot), m_.u(0)});
  };
  const auto exists = [&](Id slot) { return lane_exists(lane_of(slot)); };
  const auto both = [&](Id a, Id b) { return m_.op(spv::OpLogicalAnd, m_.bool_type, {a, b}); };
  const Id outcome =
      m_.createVariable(spv::NoPrecision, spv::StorageClassFunction, m_.uint_type, "outcome");
  repeat([&] {
    for_each_slot([&](Id slot) {
      const Id idle = m_.op(spv::OpLogicalNot, m_.bool_type, {waits(slot)});
      when(both(both(living(slot), idle), exists(slot)),
           [&] { run_lane(phases, state, body, slot); });
    });
    library("lw_barrier", m_.void_type, {});
    for_each_slot([&](Id slot) { when(waits(slot), [&] { release(phases, state, slot); }); });
    const Id turn = m_.createLoad(state.turn, spv::NoPrecision);
    const Id result = library("lw_phase_turn", m_.uint_type, {invocation_, size, turn});
    m_.createStore(result, outcome);
    m_.createStore(m_.op(spv::OpIAdd, m_.uint_type, {turn, m_.u(1)}), state.turn);
    return m_.op(spv::OpIEqual, m_.bool_type, {result, m_.u(kSome)});
  });
  const Id last = m_.createLoad(outcome, spv::NoPrecision);
  when(m_.op(spv::OpINotEqual, m_.bool_type, {last, m_.u(kAllEnded)}), [&] {
    for_each_slot([&](Id slot) {
      when(both(living(slot), exists(slot)), [&] { abandon(phases, state, last, slot); });
    });
  });
  finish_entry();
}

}  // namespace lanewise::spirv
