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

}  // namespace lanewise::ir
