#include "runtime/api/program/copy_queues.hpp"

#include <algorithm>
#include <set>

#include "runtime/ir/passes/flow/cfg.hpp"

namespace lanewise::host::detail {
namespace {

/// Registers that the block leaves false because copies complete at once.
std::set<uint32_t> never_late(const ir::Block& block) {
  std::set<uint32_t> off;
  for (const ir::Inst& inst : block.insts) {
    const bool opened =
        inst.op == ir::Op::mov && inst.mode == static_cast<uint8_t>(ir::Choice::copies_late);
    const bool also = inst.op == ir::Op::and_ && inst.type == ir::Type::pred &&
                      std::ranges::any_of(inst.src, [&](const ir::Operand& o) {
                        return o.is_reg() && off.contains(o.index);
                      });
    for (const ir::Reg r : inst.dst) off.erase(r.id);
    if (inst.guard.always() && (opened || also)) off.insert(inst.dst[0].id);
  }
  return off;
}

}  // namespace

bool drop_queues(ir::Program& program) {
  bool any = false;
  for (ir::Block& block : program.blocks) {
    ir::Terminator& t = block.term;
    if (t.kind != ir::Terminator::Kind::branch || t.cond.always() || t.cond.negate) continue;
    if (!never_late(block).contains(t.cond.reg.id)) continue;
    ir::Terminator now;
    now.kind = ir::Terminator::Kind::jump;
    now.targets = {t.targets[1]};
    now.site = t.site;
    t = std::move(now);
    any = true;
  }
  if (!any) return false;
  const ir::BlockOrder order = ir::reverse_postorder(ir::block_graph(program));
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (order.reachable(b)) continue;
    program.blocks[b].insts.clear();
    program.blocks[b].term = {};
  }
  return true;
}

}  // namespace lanewise::host::detail
