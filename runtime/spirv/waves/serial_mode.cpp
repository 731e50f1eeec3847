// Cross-lane operations when an invocation carries a whole wave; shaders/lib/wave.glsl has their
// meaning.
#include <algorithm>

#include "runtime/spirv/waves/kernel_builder.hpp"

namespace lanewise::spirv {

using ir::Op;

void KernelBuilder::begin_wave() {
  const uint32_t k = shape_.lanes_per_invocation;
  const Id first = m_.word(spv::OpIMul, {invocation_, m_.u(k)});
  const Id none = m_.test(spv::OpUGreaterThanEqual, {first, m_.u(shape_.lanes)});
  const Id left = m_.word(spv::OpISub, {m_.u(shape_.lanes), first});
  library("lw_wave_begin", m_.void_type, {m_.select(none, m_.u(0), left)});
}

/// Where the lane has stopped: the stop, and of each counted loop around it where it begins and how
/// often it has turned.
void KernelBuilder::stand(const ir::Phases& phases, Id slot) {
  const Id which = m_.create_load(frame_.resume);
  library("lw_wave_stand", m_.void_type, {slot, which});
  size_t levels = 0;
  for (const ir::WaveOrder::Place& place : phases.places)
    levels = std::max(levels, place.loops.size());
  for (uint32_t level = 0; level < levels; ++level) {
    Id begin = m_.u(0), iteration = m_.u(0);
    for (uint32_t k = 0; k < phases.places.size(); ++k) {
      const ir::WaveOrder::Place& place = phases.places[k];
      const bool inside = level < place.loops.size();
      const Id meant = m_.equals(which, k + 1);
      begin = m_.select(meant, m_.u(inside ? place.loops[level].position : place.position), begin);
      if (!inside) continue;
      const Id variable = frame_.carried[place.loops[level].iteration.id];
      iteration = m_.select(meant, m_.create_load(variable), iteration);
    }
    library("lw_wave_level", m_.void_type, {slot, m_.u(level), begin, iteration});
  }
}

/// The lane has stopped at an operation: what it brings becomes visible to its wave.
void KernelBuilder::publish_operands(const ir::Phases& phases, Id slot) {
  const auto value = [&](ir::Reg reg) { return m_.create_load(frame_.carried[reg.id]); };
  const ir::WaveRegs& w = phases.wave;
  library(
      "lw_wave_put", m_.void_type,
      {slot, value(w.kind), value(w.low), value(w.high), value(w.b), value(w.c), value(w.members)});
}

void KernelBuilder::take_results(const ir::Phases& phases, Id slot) {
  m_.create_store(library("lw_wave_result0", m_.uint_type, {slot}),
                  frame_.carried[phases.wave.result0.id]);
  m_.create_store(library("lw_wave_result1", m_.uint_type, {slot}),
                  frame_.carried[phases.wave.result1.id]);
}

/// Carries out every operation for which all its lanes are there. The library's answers:
/// 0 = no set is left, 1 = lanes are missing, 2 = complete.
void KernelBuilder::resolve_complete(const ir::Phases& phases, PhaseState& state, Id resolved) {
  library("lw_wave_look", m_.void_type, {});
  m_.repeat([&] {
    const Id found = library("lw_wave_next", m_.uint_type, {});
    m_.when(m_.equals(found, 2), [&] {
      carry_out(phases, state);
      m_.create_store(m_.b(true), resolved);
    });
    return m_.differs(found, 0);
  });
}

/// Nothing else can move in the group: the operation at the lowest place, for the lanes that are
/// there.
void KernelBuilder::resolve_first(const ir::Phases& phases, PhaseState& state) {
  m_.when(library("lw_wave_force", m_.bool_type, {}), [&] { carry_out(phases, state); });
}

void KernelBuilder::carry_out(const ir::Phases& phases, PhaseState& state) {
  const Id current = library("lw_wave_set_kind", m_.uint_type, {});
  for (size_t k = 0; k < phases.kinds.size(); ++k) {
    const ir::Inst& kind = phases.kinds[k];
    if (kind.op == Op::wave_sync) continue;  // gives nothing
    const Id meant = m_.equals(current, static_cast<uint32_t>(k + 1));
    m_.when(meant, [&] {
      if (kind.op == Op::redux) {
        library("lw_wave_reduce", m_.void_type,
                {m_.u(static_cast<uint32_t>(kind.mem->atom)), m_.b(ir::is_signed(kind.type))});
      }
      for_each_slot([&](Id slot) {
        m_.when(library("lw_wave_takes_part", m_.bool_type, {slot}),
                [&] { give(kind, state, slot); });
      });
    });
  }
  library("lw_wave_done", m_.void_type, {});
}

/// One lane's results.
void KernelBuilder::give(const ir::Inst& kind, PhaseState& state, Id slot) {
  constexpr std::pair<Op, const char*> kPlain[] = {
      {Op::ballot, "lw_wave_ballot"}, {Op::vote_ballot, "lw_wave_ballot"},
      {Op::vote_any, "lw_wave_any"},  {Op::vote_all, "lw_wave_all"},
      {Op::vote_uni, "lw_wave_uni"},  {Op::activemask, "lw_wave_active"},
      {Op::elect, "lw_wave_elect"},   {Op::readfirst, "lw_wave_first"},
      {Op::redux, "lw_wave_reduced"}};
  const Id wide = m_.b(ir::width_of(kind.type) == ir::Width::b64);
  for (const auto& [op, name] : kPlain)
    if (op == kind.op) {
      library(name, m_.void_type, {slot});
      return;
    }
  switch (kind.op) {
    case Op::shfl:
      library("lw_wave_shfl", m_.void_type, {slot, m_.u(kind.mode)});
      return;
    case Op::match_any:
      library("lw_wave_match_any", m_.void_type, {slot, wide});
      return;
    case Op::match_all:
      library("lw_wave_match_all", m_.void_type, {slot, wide});
      return;
    default:
      return give_lane(kind, state, slot);
  }
}

/// readlane: the register of a lane that may wait elsewhere or have ended, so it is read from where
/// the registers are kept, not from what lanes passed on.
void KernelBuilder::give_lane(const ir::Inst& kind, PhaseState& state, Id slot) {
  const Id from = library("lw_wave_from", m_.uint_type, {slot});
  const Id missing = m_.equals(from, ~0U);
  Id value = m_.constant(ir::Width::b32, kind.src[0].imm);
  if (kind.src[0].is_reg()) {
    const Id safe = m_.select(missing, m_.u(0), from);
    const Id place = array_element(state.array_of[kind.src[0].index], safe, m_.uint_type);
    value = m_.create_load(place);
  }
  library("lw_wave_give", m_.void_type, {slot, m_.select(missing, m_.u(0), value), m_.u(0)});
}

}  // namespace lanewise::spirv
