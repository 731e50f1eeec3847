#include "runtime/spirv/lane/row_uses.hpp"

#include <algorithm>

namespace lanewise::spirv {

RowUses::RowUses(const ir::Block& block, const std::vector<bool>& live_out)
    : block_(block),
      live_out_(live_out),
      stops_(block.insts.size() + 1, block.insts.size()),
      reads_(live_out.size()),
      wanted_(live_out),
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

void RowUses::add(uint32_t reg, int by) {
  reads_[reg] += static_cast<uint32_t>(by);
  wanted_[reg] = reads_[reg] != 0 || live_out_[reg];
}

/// A guarded instruction keeps what was there.
void RowUses::count(const ir::Inst& inst, int by) {
  for (const ir::Operand& o : inst.src)
    if (o.is_reg()) add(o.index, by);
  if (inst.guard.always()) return;
  add(inst.guard.reg.id, by);
  for (const ir::Reg reg : inst.dst)
    if (reg.valid()) add(reg.id, by);
}

const std::vector<bool>& RowUses::wanted_behind(size_t n) {
  while (at_ > n) count(block_.insts[--at_], 1);
  while (at_ < n) count(block_.insts[at_++], -1);
  return wanted_;
}

}  // namespace lanewise::spirv
