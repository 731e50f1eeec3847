// Which registers instructions read.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Calls visit(register id) for every register the instruction reads, its guard included.
template <typename Visit>
void for_each_use(const Inst& inst, Visit&& visit) {
  if (!inst.guard.always()) visit(inst.guard.reg.id);
  for (const Operand& o : inst.src) {
    if (o.is_reg()) visit(o.index);
  }
  if (inst.mem && inst.mem->cache.hint.is_reg()) visit(inst.mem->cache.hint.index);
}

template <typename Visit>
void for_each_use(const Terminator& term, Visit&& visit) {
  if (term.kind == Terminator::Kind::branch) visit(term.cond.reg.id);
  if (term.kind == Terminator::Kind::switch_ && term.selector.is_reg()) visit(term.selector.index);
}

}  // namespace lanewise::ir
