#include "runtime/spirv/lane/row_uses.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

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
  find_stretches();
}

/// Questions about different parts of what runs through one pointer become one, which compilers ask
/// once: unrolled loops would ask for each element.
void RowUses::find_stretches() {
  constexpr int64_t kFarthest = 2048;
  using Key = std::tuple<uint32_t, size_t, uint32_t, ir::Space, uint8_t, uint32_t, int64_t>;
  std::unordered_map<uint32_t, size_t> written;  // by register: how often until here
  std::map<Key, size_t> known;
  for (size_t i = 0; i < block_.insts.size(); ++i) {
    const ir::Inst& inst = block_.insts[i];
    if (inst.op == ir::Op::check && inst.src[0].is_reg() && inst.src[1].is_imm() &&
        inst.mem->offset >= -kFarthest && inst.mem->offset <= kFarthest) {
      const ir::Mem& mem = *inst.mem;
      const uint32_t reg = inst.src[0].index;
      const uint32_t align = mem.align == ir::AlignRule::any ? 1 : std::bit_ceil(mem.alignment());
      const Key key{
          reg, written[reg], mem.pointer, mem.space, inst.mode, align, mem.offset & (align - 1)};
      const auto [at, fresh] = known.try_emplace(key, stretches_.size());
      if (fresh) stretches_.push_back({mem.offset, mem.offset});
      Stretch& stretch = stretches_[at->second];
      stretch.least = std::min(stretch.least, mem.offset);
      stretch.end = std::max(stretch.end, mem.offset + mem.bytes());
      stretch_[i] = at->second;
    }
    for (const ir::Reg reg : inst.dst)
      if (reg.valid()) ++written[reg.id];
  }
}

const RowUses::Stretch* RowUses::stretch_of(size_t check) const {
  const auto found = stretch_.find(check);
  return found == stretch_.end() ? nullptr : &stretches_[found->second];
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
