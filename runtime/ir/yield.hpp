// A stop that waits for nobody: the other lanes of the group have their turn, then the lane goes
// on. No instruction of a guest is one; translation for devices puts it into loops that wait.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Of Op::barrier, beside those that front ends make.
inline constexpr BarrierKind kYield{static_cast<uint8_t>(BarrierKind::red_or) + 1};

inline bool is_yield(const Inst& inst) {
  return inst.op == Op::barrier && inst.mode == static_cast<uint8_t>(kYield);
}
/// Lanes wait there for others.
inline bool is_waiting_barrier(const Inst& inst) {
  return inst.op == Op::barrier && inst.mode != static_cast<uint8_t>(BarrierKind::arrive) &&
         !is_yield(inst);
}

}  // namespace lanewise::ir
