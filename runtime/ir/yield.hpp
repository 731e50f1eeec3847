// A stop that waits for nobody: the other lanes of the group have their turn, then the lane goes
// on. No instruction of a guest is one; translation for devices puts it into loops that wait.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

inline bool is_yield(const Inst& inst) {
  return inst.op == Op::barrier && inst.mode == static_cast<uint8_t>(BarrierKind::yield);
}
/// Lanes wait there for others.
inline bool is_waiting_barrier(const Inst& inst) {
  return inst.op == Op::barrier && inst.mode != static_cast<uint8_t>(BarrierKind::arrive) &&
         !is_yield(inst);
}

}  // namespace lanewise::ir
