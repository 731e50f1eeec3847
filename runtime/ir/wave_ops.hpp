// What the cross-lane operations have in common.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Which source holds the member mask, -1 when the operation has none.
constexpr int member_operand(Op op) {
  switch (op) {
    case Op::vote_any:
    case Op::vote_all:
    case Op::vote_uni:
    case Op::vote_ballot:
    case Op::match_any:
    case Op::match_all:
    case Op::redux:
      return 1;
    case Op::shfl:
      return 3;
    case Op::elect:
    case Op::wave_sync:
      return 0;
    default:
      return -1;
  }
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
