#include "runtime/spirv/lane/row_uses.hpp"

#include <algorithm>

namespace lanewise::spirv {

RowUses::RowUses(const ir::Block& block, const std::vector<uint32_t>& live_out)
    : block_(block),
      live_out_(live_out),
      stops_(block.insts.size() + 1, block.insts.size()),
      at_(block.insts.size()) {
  for (size_t i = block.insts.size(); i-- > 0;) {
    const ir::OpTrait trait = ir::info(block.insts[i].op).trait;
    const bool passes = trait == ir::OpTrait::pure || trait == ir::OpTrait::mem;
    stops_[i] = passes ? stops_[i + 1] : i;
  }
  for (size_t i = 0; i < block.insts.size(); ++i) {
    const ir::Inst& inst = block.insts[i];
    const bool access =
        inst.op == ir::Op::load || inst.op == ir::Op::store || inst.op == ir::Op::atom;
    if (access && inst.src.back().is_reg()) accesses_[inst.src.back().index].push_back(i);
  }
}

size_t RowUses::last_access(uint32_t check, size_t stop) const {
  const auto found = accesses_.find(check);
  if (found == accesses_.end()) return 0;
  const auto behind = std::ranges::lower_bound(found->second, stop);
  return behind == found->second.begin() ? 0 : *(behind - 1) + 1;
}

/// A guarded instruction keeps what was there.
void RowUses::count(const ir::Inst& inst, int by) {
  for (const ir::Operand& o : inst.src)
    if (o.is_reg()) reads_[o.index] += by;
  if (inst.guard.always()) return;
  reads_[inst.guard.reg.id] += by;
  for (const ir::Reg reg : inst.dst)
    if (reg.valid()) reads_[reg.id] += by;
}

bool RowUses::wanted(size_t n, uint32_t reg) {
  while (at_ > n) count(block_.insts[--at_], 1);
  while (at_ < n) count(block_.insts[at_++], -1);
  const auto found = reads_.find(reg);
  return (found != reads_.end() && found->second != 0) ||
         std::ranges::binary_search(live_out_, reg);
}

}  // namespace lanewise::spirv
