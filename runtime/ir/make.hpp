// Instructions and terminators as expressions.
#pragma once

#include <utility>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// The type with which values of the width are moved.
constexpr Type bits_type(Width width) {
  return width == Width::pred ? Type::pred : width == Width::b64 ? Type::u64 : Type::u32;
}

inline Inst instruction(Op op, Type type, std::vector<Reg> dst, std::vector<Operand> src,
                        uint32_t site = kNone) {
  Inst inst;
  inst.op = op;
  inst.type = type;
  inst.dst = std::move(dst);
  inst.src = std::move(src);
  inst.site = site;
  return inst;
}

/// A move of all bits that happens where `inst` does.
inline Inst move_at(const Inst& inst, Width width, Reg to, Operand from) {
  Inst move = instruction(Op::mov, bits_type(width), {to}, {from}, inst.site);
  move.guard = inst.guard;
  return move;
}

inline Terminator jump_to(uint32_t target, uint32_t site = kNone) {
  Terminator t;
  t.kind = Terminator::Kind::jump;
  t.targets = {target};
  t.site = site;
  return t;
}

inline Terminator branch_on(Guard cond, uint32_t taken, uint32_t otherwise, uint32_t site = kNone) {
  Terminator t;
  t.kind = Terminator::Kind::branch;
  t.cond = cond;
  t.targets = {taken, otherwise};
  t.site = site;
  return t;
}

}  // namespace lanewise::ir
