// What the cross-lane operations have in common.
#pragma once

#include "runtime/ir/ir.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::ir {

/// Which source holds the member mask, -1 when the operation has none.
inline constexpr EnumSet<Op> kMaskBehindValue{Op::vote_any,    Op::vote_all,  Op::vote_uni,
                                              Op::vote_ballot, Op::match_any, Op::match_all,
                                              Op::redux};
constexpr int member_operand(Op op) {
  if (kMaskBehindValue.has(op)) return 1;
  return op == Op::shfl ? 3 : op == Op::elect || op == Op::wave_sync ? 0 : -1;
}

/// The operation waits for the lanes of its mask; otherwise the tree says who takes part.
inline bool is_rendezvous(const Program& program, Op op) {
  return program.rendezvous && member_operand(op) >= 0;
}

/// The guest lets lanes of a wave come to the instruction one by one: a barrier that is not
/// aligned, a form without .sync. Others have to come together.
constexpr bool may_come_apart(Type from) {
  return from == Type::pred;
}
inline void let_come_apart(Inst& inst) {
  inst.from = Type::pred;
}

/// The index in `kinds` of the operation that differs from `inst` in operands at most, which is
/// added when there is none. Operations of one kind with one mask meet, wherever they stand.
uint32_t wave_kind(std::vector<Inst>& kinds, const Inst& inst);

}  // namespace lanewise::ir
