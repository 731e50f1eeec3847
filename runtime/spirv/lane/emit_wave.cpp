// Cross-lane operations that all lanes of the group are known to reach together, one lane per
// invocation; shaders/lib/wave_group.glsl carries them out through shared memory.
#include "runtime/ir/wave_ops.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/support/enum_set.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;
using ir::Width;

/// Every lane of the wave is meant: what an immediate mask of all ones says.
bool for_all_lanes(const ir::Inst& inst, size_t members) {
  return inst.src[members] == ir::Operand::immediate(0xffffffff);
}

}  // namespace

bool runs_in_group(const ir::Inst& inst) {
  static constexpr EnumSet<Op> kUnmasked{Op::ballot, Op::activemask, Op::readlane, Op::readfirst};
  if (!inst.guard.always()) return false;
  const int mask = ir::member_operand(inst.op);
  if (mask < 0) return kUnmasked.has(inst.op);
  const bool words = ir::width_of(inst.type) == Width::b32;
  return for_all_lanes(inst, static_cast<size_t>(mask)) &&
         (words || (inst.op != Op::match_any && inst.op != Op::match_all));
}

void LaneEmitter::emit_wave() {
  if (!frame_.waves)
    throw Error(ErrorKind::guest, "internal: a cross-lane operation was left over");
  set_results(group_operation());
}

Values LaneEmitter::group_vote() {
  library("lw_group_vote", m_.void_type,
          {src_as(0, Width::pred), m_.u(wave_lanes()), m_.u(shape_.lanes)});
  switch (inst_->op) {
    case Op::ballot:
      return {library("lw_group_ballot64", m_.b64_type, {})};
    case Op::vote_ballot:
      return {library("lw_group_ballot", m_.uint_type, {})};
    case Op::vote_any:
      return {library("lw_group_any", m_.bool_type, {})};
    case Op::vote_all:
      return {library("lw_group_all", m_.bool_type, {})};
    default:
      return {library("lw_group_uni", m_.bool_type, {})};
  }
}

/// Value and predicate of a match.
Values LaneEmitter::group_match() {
  const bool all = inst_->op == Op::match_all;
  const Id found = library(all ? "lw_group_match_all" : "lw_group_match", m_.uint_type,
                           {src_as(0, Width::b32), m_.u(wave_lanes()), m_.u(shape_.lanes)});
  return {found, m_.differs(found, 0)};
}

Values LaneEmitter::group_operation() {
  const Id width = m_.u(wave_lanes()), lanes = m_.u(shape_.lanes);
  switch (inst_->op) {
    case Op::wave_sync:
      library("lw_barrier", m_.void_type, {});
      return {};
    case Op::activemask:
      return {library("lw_group_active", m_.uint_type, {width, lanes})};
    case Op::elect: {
      const Id mine = m_.word(spv::OpBitwiseAnd, {lane(), m_.u(wave_lanes() - 1)});
      return {m_.u(0), m_.equals(mine, 0)};
    }
    case Op::readfirst:
      return {
          library("lw_group_read", m_.uint_type, {src_as(0, Width::b32), m_.u(0), width, lanes})};
    case Op::readlane:
      return {library("lw_group_read", m_.uint_type,
                      {src_as(0, Width::b32), src_as(1, Width::b32), width, lanes})};
    case Op::redux:
      return {library("lw_group_reduce", m_.uint_type,
                      {src_as(0, Width::b32), m_.u(static_cast<uint32_t>(inst_->mem->atom)),
                       m_.b(ir::is_signed(inst_->type)), width, lanes})};
    case Op::shfl: {
      const Id value = library("lw_group_shfl", m_.uint_type,
                               {src_as(0, Width::b32), src_as(1, Width::b32), src_as(2, Width::b32),
                                m_.u(inst_->mode), width, lanes});
      return {value, library("lw_group_in_range", m_.bool_type, {})};
    }
    case Op::match_any:
    case Op::match_all:
      return group_match();
    default:
      return group_vote();
  }
}

}  // namespace lanewise::spirv
