// Phase mode: lanes run from barrier to barrier; shaders/lib/phase.glsl keeps the group's counts.
#include <algorithm>

#include "runtime/guest/engine.hpp"
#include "runtime/ir/yield.hpp"
#include "runtime/spirv/waves/kernel_builder.hpp"

namespace lanewise::spirv {
namespace {

constexpr uint32_t kBarriers = 16;    // guest barriers 0 .. 15
constexpr uint32_t kTicketShift = 4;  // a waiting lane keeps its barrier and its place in the row
// Results of lw_phase_end_round.
constexpr uint32_t kAllEnded = 0, kSome = 1, kNone = 2, kWaves = 3;

}  // namespace

Id KernelBuilder::array_element(Id array, Id slot, Id type) {
  return m_.op(spv::OpAccessChain, m_.make_pointer(spv::StorageClassPrivate, type), {array, slot});
}

void KernelBuilder::make_phase_variables(const ir::Phases& phases, PhaseState& state) {
  const ir::Program& program = phases.program;
  const Id length = m_.u(shape_.lanes_per_invocation);
  const auto array = [&](Id element, const char* name) {
    return private_variable(m_.make_array_type(element, length, 0), name);
  };
  frame_.carried.assign(program.regs.size(), spv::NoResult);
  state.array_of.assign(program.regs.size(), spv::NoResult);
  const auto keep = [&](ir::Reg reg, bool across) {
    if (!reg.valid()) return;
    const Id type = m_.type_of(program.regs[reg.id].width);
    Id& variable = frame_.carried[reg.id];
    if (variable == spv::NoResult) {
      variable = private_variable(type, "carried", m_.make_null_constant(type));
    }
    if (!across || state.array_of[reg.id] != spv::NoResult) return;
    state.array_of[reg.id] = array(type, "saved");
    state.registers.push_back({state.array_of[reg.id], variable, type});
  };
  for (const ir::Reg reg : phases.carried) keep(reg, true);
  keep(phases.resume, true);
  for (const Id variable : state_.variables())
    state.registers.push_back({array(m_.uint_type, "lane_state"), variable, m_.uint_type});
  // Operands of barriers are looked at right after the phase; they need not survive another lane.
  keep(phases.barrier_id, false);
  keep(phases.barrier_count, false);
  for (const ir::Inst& stop : phases.stops) {
    if (stop.op != ir::Op::barrier) continue;
    for (const ir::Operand& operand : stop.src)
      if (operand.is_reg()) keep(operand.reg(), false);
  }
  const ir::WaveRegs& w = phases.wave;
  for (const ir::Reg reg : {w.kind, w.low, w.high, w.b, w.c, w.members, w.result0, w.result1})
    keep(reg, false);
  frame_.resume = frame_.carried[phases.resume.id];
  state.resume = state.array_of[phases.resume.id];
  state.waiting = array(m_.uint_type, "waiting");
  state.barrier = array(m_.uint_type, "waits_at");
  state.round = private_variable(m_.uint_type, "round", m_.u(0));
}

/// A value that depends on which stop (1 ...) is meant; stops that `value_of` has nothing for are
/// never asked about.
Id KernelBuilder::stop_value(const ir::Phases& phases, Id which,
                             const std::function<Id(const ir::Inst&)>& value_of) {
  Id value = spv::NoResult;
  for (size_t k = 0; k < phases.stops.size(); ++k) {
    const Id other = value_of(phases.stops[k]);
    if (other == value || other == spv::NoResult) continue;
    if (value == spv::NoResult) {
      value = other;
      continue;
    }
    const Id meant = m_.equals(which, static_cast<uint32_t>(k + 1));
    value = m_.select(meant, other, value);
  }
  return value;
}

Id KernelBuilder::operand_of(const ir::Operand& operand, ir::Width width, Id when_dynamic) {
  if (operand.is_imm()) return m_.constant(width, operand.imm);
  if (when_dynamic != spv::NoResult) return m_.create_load(when_dynamic);
  if (operand.is_reg()) {
    return m_.create_load(frame_.carried[operand.index]);
  }
  return m_.constant(width, 0);
}

Id KernelBuilder::fault_at(FaultKind kind, const ir::Inst& stop) {
  return m_.u(state_.points().number(kind, stop.site));
}

/// begin_entry() has started one lane; all others start alike. A loop, because drivers write out an
/// array's initial value element by element.
void KernelBuilder::start_all_lanes(PhaseState& state) {
  for_each_slot([&](Id slot) {
    for (const auto& saved : state.registers)
      m_.create_store(m_.create_load(saved.variable), array_element(saved.array, slot, saved.type));
    for (const Id array : {state.waiting, state.barrier})
      m_.create_store(m_.u(0), array_element(array, slot, m_.uint_type));
  });
}

/// The lane's fault and steps, as its last phase has left them.
void KernelBuilder::load_lane_state(PhaseState& state, Id slot) {
  for (const auto& saved : state.registers) {
    if (!std::ranges::count(state_.variables(), saved.variable)) continue;
    const Id value = m_.create_load(array_element(saved.array, slot, saved.type));
    m_.create_store(value, saved.variable);
  }
}

void KernelBuilder::run_lane(const ir::Phases& phases, PhaseState& state, Function* body, Id slot) {
  const Id lane = lane_of(slot);
  m_.create_store(lane, frame_.lane);
  library("lw_set_lane", m_.void_type, {slot, lane});
  for (const auto& saved : state.registers) {
    const Id value = m_.create_load(array_element(saved.array, slot, saved.type));
    m_.create_store(value, saved.variable);
  }
  run_body(phases, state, body, slot);
  for (const auto& saved : state.registers) {
    const Id value = m_.create_load(saved.variable);
    m_.create_store(value, array_element(saved.array, slot, saved.type));
  }
  const Id after = m_.create_load(frame_.resume);
  m_.when(m_.equals(after, ir::kPhaseEnded), [&] {
    end_of_lane();
    library("lw_phase_ended", m_.void_type, {});
  });
  if (shape_.serial) {
    const Id ended = m_.equals(m_.create_load(frame_.resume), ir::kPhaseEnded);
    library("lw_wave_leave", m_.void_type, {slot, ended});
  }
}

/// From the lane's last stop to its next one.
void KernelBuilder::run_body(const ir::Phases& phases, PhaseState& state, Function* body, Id slot) {
  if (phases.stops.empty()) return m_.call_function(body);
  const auto ended = [&](spv::Op comparison) {
    const Id now = m_.create_load(frame_.resume);
    return m_.test(comparison, {now, m_.u(ir::kPhaseEnded)});
  };
  // A loop around a stop has no back edge inside a phase: each resumption counts as one.
  const Id at = m_.create_load(frame_.resume);
  const Id resumed = m_.differs(at, 0);
  m_.when(resumed, [&] {
    const Id point = stop_value(
        phases, at, [&](const ir::Inst& b) { return fault_at(FaultKind::step_budget, b); });
    const Id go_on = state_.step();
    m_.when(m_.negated(go_on), [&] {
      state_.note(state_.out_of_steps(), point, m_.u(0), m_.u(0));
      m_.create_store(m_.u(ir::kPhaseEnded), frame_.resume);
    });
    if (phases.wave.kind.valid()) take_results(phases, slot);
  });
  m_.when(ended(spv::OpINotEqual), [&] { m_.call_function(body); });
  const Id stopped = ended(spv::OpINotEqual);
  if (!phases.wave.kind.valid()) {
    m_.when(stopped, [&] { stop_at_barrier(phases, state, slot); });
    return;
  }
  m_.when(stopped, [&] { stand(phases, slot); });
  const Id kind = m_.create_load(frame_.carried[phases.wave.kind.id]);
  const auto both = [&](Id a, Id b) { return m_.test(spv::OpLogicalAnd, {a, b}); };
  const bool barriers = std::ranges::any_of(
      phases.stops, [](const ir::Inst& stop) { return stop.op == ir::Op::barrier; });
  if (barriers) {
    const Id at_barrier = m_.equals(kind, 0);
    m_.when(both(stopped, at_barrier), [&] { stop_at_barrier(phases, state, slot); });
  }
  const Id at_wave = m_.differs(kind, 0);
  m_.when(both(stopped, at_wave), [&] { publish_operands(phases, slot); });
}

/// The lane has stopped at a barrier, or where it goes on in the next round.
void KernelBuilder::stop_at_barrier(const ir::Phases& phases, PhaseState& state, Id slot) {
  const auto any = [&](bool yields) {
    return std::ranges::any_of(phases.stops, [&](const ir::Inst& stop) {
      return stop.op == ir::Op::barrier && ir::is_yield(stop) == yields;
    });
  };
  if (!any(true)) return arrive(phases, state, slot);
  const auto turn = [&] {
    library("lw_phase_yield", m_.void_type, {m_.create_load(state.round)});
    if (shape_.serial) library("lw_wave_defer", m_.void_type, {slot});
  };
  if (!any(false)) return turn();
  const Id which = m_.create_load(frame_.resume);
  const Id yields = stop_value(phases, which, [&](const ir::Inst& stop) {
    return stop.op == ir::Op::barrier ? m_.b(ir::is_yield(stop)) : spv::NoResult;
  });
  m_.when(yields, turn);
  m_.when(m_.negated(yields), [&] { arrive(phases, state, slot); });
}

void KernelBuilder::arrive(const ir::Phases& phases, PhaseState& state, Id slot) {
  const auto dynamic = [&](ir::Reg reg) {
    return reg.valid() ? frame_.carried[reg.id] : spv::NoResult;
  };
  const Id which = m_.create_load(frame_.resume);
  const auto of_barrier = [&](const std::function<Id(const ir::Inst&)>& value_of) {
    return stop_value(phases, which, [&](const ir::Inst& b) {
      return b.op == ir::Op::barrier && !ir::is_yield(b) ? value_of(b) : spv::NoResult;
    });
  };
  const Id id = of_barrier([&](const ir::Inst& b) {
    return operand_of(b.src[0], ir::Width::b32, dynamic(phases.barrier_id));
  });
  const Id count = of_barrier([&](const ir::Inst& b) {
    return b.src.size() > 1 ? operand_of(b.src[1], ir::Width::b32, dynamic(phases.barrier_count))
                            : m_.u(0);
  });
  const Id kind = of_barrier([&](const ir::Inst& b) { return m_.u(b.mode); });
  const Id vote = of_barrier([&](const ir::Inst& b) {
    return b.src.size() > 2 ? operand_of(b.src[2], ir::Width::pred, spv::NoResult) : m_.b(false);
  });
  const Id valid = m_.test(spv::OpULessThan, {id, m_.u(kBarriers)});
  m_.when(m_.negated(valid), [&] {
    const Id point = stop_value(phases, which, [&](const ir::Inst& b) {
      return fault_at(FaultKind::illegal_instruction, b);
    });
    state_.note(point, m_.u(0), m_.u(0));
    m_.create_store(m_.u(ir::kPhaseEnded), frame_.resume);
  });
  m_.when(valid, [&] {
    const Id round = m_.create_load(state.round);
    const Id ticket = library("lw_phase_arrive", m_.uint_type, {id, count, kind, vote, round});
    const Id passes = m_.equals(kind, static_cast<uint32_t>(ir::BarrierKind::arrive));
    m_.create_store(m_.select(passes, m_.u(0), which),
                    array_element(state.waiting, slot, m_.uint_type));
    const Id high = m_.word(spv::OpShiftLeftLogical, {ticket, m_.u(kTicketShift)});
    m_.create_store(m_.word(spv::OpBitwiseOr, {high, id}),
                    array_element(state.barrier, slot, m_.uint_type));
    if (shape_.serial) m_.when(passes, [&] { library("lw_wave_defer", m_.void_type, {slot}); });
  });
}

/// Lets a waiting lane out when its barrier has opened, with the result of a reduction.
void KernelBuilder::release(const ir::Phases& phases, PhaseState& state, Id slot) {
  const Id place = array_element(state.waiting, slot, m_.uint_type);
  const Id which = m_.create_load(place);
  const Id at = m_.create_load(array_element(state.barrier, slot, m_.uint_type));
  const Id id = m_.word(spv::OpBitwiseAnd, {at, m_.u(kBarriers - 1)});
  const Id ticket = m_.word(spv::OpShiftRightLogical, {at, m_.u(kTicketShift)});
  const Id round = m_.create_load(state.round);
  const Id open = library("lw_phase_released", m_.bool_type, {id, ticket, round});
  m_.when(open, [&] {
    m_.create_store(m_.u(0), place);
    for (size_t k = 0; k < phases.stops.size(); ++k) {
      const ir::Inst& barrier = phases.stops[k];
      if (barrier.op != ir::Op::barrier || barrier.dst.empty() || !barrier.dst[0].valid()) continue;
      const Id array = state.array_of[barrier.dst[0].id];
      if (array == spv::NoResult) continue;  // nobody reads the result
      const Id meant = m_.equals(which, static_cast<uint32_t>(k + 1));
      m_.when(meant, [&] {
        const bool pred = phases.program.regs[barrier.dst[0].id].width == ir::Width::pred;
        Id value = library("lw_phase_result", m_.uint_type, {id, m_.u(barrier.mode)});
        if (pred) value = m_.differs(value, 0);
        m_.create_store(value, array_element(array, slot, pred ? m_.bool_type : m_.uint_type));
      });
    }
  });
}

/// The lane does not get to its end: nobody can go on (it waits at a barrier for ever), or the
/// driver has cut the loop over the rounds.
void KernelBuilder::abandon(const ir::Phases& phases, PhaseState& state, Id outcome, Id slot) {
  const Id which = m_.create_load(array_element(state.resume, slot, m_.uint_type));
  const Id lane = lane_of(slot);
  m_.create_store(lane, frame_.lane);
  library("lw_set_lane", m_.void_type, {slot, lane});
  load_lane_state(state, slot);
  const auto points = [&](FaultKind kind) {
    const Id point =
        stop_value(phases, which, [&](const ir::Inst& b) { return fault_at(kind, b); });
    // No stops: the driver cut the loop.
    return point != spv::NoResult ? point : m_.u(state_.points().number(kind, ir::kNone));
  };
  const Id none = m_.equals(outcome, kNone);
  const Id stuck = m_.test(spv::OpLogicalAnd, {none, waits(state, slot)});
  const Id point =
      m_.select(stuck, points(FaultKind::barrier_divergence), points(FaultKind::step_budget));
  const Id cut = m_.select(stuck, m_.u(0), m_.u(kCutHere));
  // A launch that somebody has ended leaves lanes waiting; that is no fault of theirs.
  const Id aborted = library("lw_aborted", m_.bool_type, {});
  state_.note(m_.negated(aborted), point, cut, m_.u(0));
  end_of_lane();
  m_.create_store(m_.u(ir::kPhaseEnded), array_element(state.resume, slot, m_.uint_type));
}

/// Every lane that has not ended, one of them outside of any loop: a driver that has cut one loop
/// cuts all that follow.
void KernelBuilder::abandon_all(const ir::Phases& phases, PhaseState& state, Id outcome) {
  if (shape_.serial) {
    m_.when(library("lw_wave_any_live", m_.bool_type, {}), [&] {
      abandon(phases, state, outcome, library("lw_wave_first_live", m_.uint_type, {}));
    });
  }
  for_each_slot([&](Id slot) {
    const Id exists = lane_exists(lane_of(slot));
    m_.when(m_.test(spv::OpLogicalAnd, {living(state, slot), exists}),
            [&] { abandon(phases, state, outcome, slot); });
  });
}

Id KernelBuilder::living(PhaseState& state, Id slot) {
  const Id at = m_.create_load(array_element(state.resume, slot, m_.uint_type));
  return m_.differs(at, ir::kPhaseEnded);
}
Id KernelBuilder::waits(PhaseState& state, Id slot) {
  const Id at = m_.create_load(array_element(state.waiting, slot, m_.uint_type));
  return m_.differs(at, 0);
}

/// Each lane until it stops; then, as long as the lanes of a wave can help each other on, again.
void KernelBuilder::run_lanes(const ir::Phases& phases, PhaseState& state, Function* body) {
  const auto both = [&](Id a, Id b) { return m_.test(spv::OpLogicalAnd, {a, b}); };
  const auto once = [&] {
    for_each_slot([&](Id slot) {
      const Id idle = m_.negated(waits(state, slot));
      const Id able = shape_.serial ? library("lw_wave_runs", m_.bool_type, {slot})
                                    : lane_exists(lane_of(slot));
      m_.when(both(both(living(state, slot), idle), able),
              [&] { run_lane(phases, state, body, slot); });
    });
  };
  if (!phases.wave.kind.valid()) return once();
  const Id resolved = m_.create_variable(spv::StorageClassFunction, m_.bool_type, "resolved");
  m_.repeat([&] {
    once();
    m_.create_store(m_.b(false), resolved);
    resolve_complete(phases, state, resolved);
    return m_.create_load(resolved);
  });
}

void KernelBuilder::release_lanes(const ir::Phases& phases, PhaseState& state) {
  if (std::ranges::none_of(phases.stops, [](const ir::Inst& stop) {
        return stop.op == ir::Op::barrier && !ir::is_yield(stop);
      }))
    return;
  for_each_slot(
      [&](Id slot) { m_.when(waits(state, slot), [&] { release(phases, state, slot); }); });
}

void KernelBuilder::build_phases(const ir::Phases& phases) {
  PhaseState state;
  make_phase_variables(phases, state);
  const bool waves = phases.wave.kind.valid();
  Function* body = build_body(phases.program);
  begin_entry();
  const Id size = m_.u(shape_.local_size);
  start_all_lanes(state);
  if (shape_.serial) begin_wave();
  library("lw_phase_begin", m_.void_type, {invocation_, size, m_.u(shape_.lanes)});
  const Id outcome = m_.create_variable(spv::StorageClassFunction, m_.uint_type, "outcome");
  m_.create_store(m_.u(kSome), outcome);
  const auto is = [&](Id result, uint32_t what) { return m_.equals(result, what); };
  m_.repeat([&] {
    if (shape_.serial) library("lw_wave_new_turn", m_.void_type, {});
    if (waves) {
      m_.when(is(m_.create_load(outcome), kWaves), [&] { resolve_first(phases, state); });
    }
    run_lanes(phases, state, body);
    library("lw_barrier", m_.void_type, {});
    const Id round = m_.create_load(state.round);
    release_lanes(phases, state);
    if (waves) {
      m_.when(library("lw_wave_any_stopped", m_.bool_type, {}),
              [&] { library("lw_phase_wave_waits", m_.void_type, {round}); });
    }
    const Id result = library("lw_phase_end_round", m_.uint_type, {invocation_, size, round});
    m_.create_store(result, outcome);
    m_.create_store(m_.word(spv::OpIAdd, {round, m_.u(1)}), state.round);
    return m_.test(spv::OpLogicalOr, {is(result, kSome), is(result, kWaves)});
  });
  const Id last = m_.create_load(outcome);
  m_.when(m_.differs(last, kAllEnded), [&] { abandon_all(phases, state, last); });
  finish_entry();
}

}  // namespace lanewise::spirv
