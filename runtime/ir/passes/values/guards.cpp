#include <algorithm>

#include "runtime/ir/passes/values/needs.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

bool may_go(const Program& program, const Inst& inst) {
  return !inst.guard.always() && Needs::is_free(program, inst);
}

}  // namespace

bool drop_guards(Program& program, const PassOptions&) {
  if (!any_inst(program, [&](const Inst& i) { return may_go(program, i); })) return false;
  const Needs needs(program);
  const Ssa& ssa = needs.ssa();
  bool changed = false;
  for (const uint32_t b : ssa.order().nodes) {
    for (size_t n = 0; n < program.blocks[b].insts.size(); ++n) {
      Inst& i = program.blocks[b].insts[n];
      if (!may_go(program, i)) continue;
      bool elsewhere = false;
      for (size_t d = 0; d < i.dst.size(); ++d)
        elsewhere =
            elsewhere || !needs.only_where(ssa.defined(b, n, d), ssa.guard(b, n), !i.guard.negate);
      if (elsewhere) continue;
      i.guard = Guard{};
      changed = true;
    }
  }
  return changed;
}

}  // namespace lanewise::ir
