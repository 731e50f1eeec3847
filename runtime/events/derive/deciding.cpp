#include "runtime/events/derive/deciding.hpp"

#include <algorithm>

#include "runtime/ir/wave_ops.hpp"

namespace lanewise::events {

using ir::Op;

bool waits_for_others(const ir::Inst& inst) {
  return inst.op == Op::barrier || ir::member_operand(inst.op) >= 0;
}

std::vector<bool> deciding(const ir::Program& program) {
  std::vector<bool> wanted(program.regs.size());
  const auto want = [&](ir::Reg r) {
    if (!r.valid() || wanted[r.id]) return false;
    wanted[r.id] = true;
    return true;
  };
  const auto want_operand = [&](const ir::Operand& o) { return o.is_reg() && want(o.reg()); };
  for (const ir::Block& block : program.blocks) {
    want(block.term.cond.reg);
    want_operand(block.term.selector);
    for (const ir::Inst& inst : block.insts) {
      const bool event = inst.event != 0 || inst.op == Op::trap;
      if (!event && !waits_for_others(inst)) continue;
      want(inst.guard.reg);
      if (event && !inst.src.empty()) want_operand(inst.src[0]);
      if (inst.op == Op::barrier)
        for (size_t i = 0; i < std::min<size_t>(inst.src.size(), 2); ++i) want_operand(inst.src[i]);
    }
  }
  for (bool more = true; more;) {
    more = false;
    for (const ir::Block& block : program.blocks)
      for (const ir::Inst& inst : block.insts) {
        if (std::ranges::none_of(inst.dst, [&](ir::Reg r) { return r.valid() && wanted[r.id]; }))
          continue;
        more |= want(inst.guard.reg);
        for (const ir::Operand& o : inst.src) more |= want_operand(o);
      }
  }
  return wanted;
}

}  // namespace lanewise::events
