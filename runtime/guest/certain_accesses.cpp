#include "runtime/guest/certain_accesses.hpp"

#include <bit>
#include <optional>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/under_guard.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {
namespace {

/// No address is so far from where an offset is added that the sum wraps.
constexpr uint64_t kFarthest = uint64_t{1} << 62;

bool is_access(const ir::Inst& inst) {
  return inst.op == ir::Op::load || inst.op == ir::Op::store || inst.op == ir::Op::atom;
}

class Search {
 public:
  Search(const ir::Program& program, const CertainFacts& facts)
      : facts_(facts), program_(program), pointers_(ir::find_pointers(program_)) {
    if (!facts.allocations) {
      ir::forget_pointers(program_);
      pointers_ = {};
    }
    ir::load_parameters(program_);
    ir::expand_descriptors(program_);  // makes and drops no access
    bounds_ = pointer_bounds(pointers_, facts.params, facts.live);
  }

  std::vector<bool> run() {
    const ir::Numbers numbers(program_, {.block = facts_.block,
                                         .unset_is_zero = true,
                                         .grid = facts_.grid,
                                         .params = facts_.params});
    std::vector<bool> out;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b)
      for (size_t i = 0; i < program_.blocks[b].insts.size(); ++i) {
        const ir::Inst& inst = program_.blocks[b].insts[i];
        if (!is_access(inst)) continue;
        out.push_back(numbers.reached(b) && reaches_arena(inst.mem->space) &&
                      is_legal(inst, ir::UnderGuard(numbers, b, i).use(0)));
      }
    return out;
  }

 private:
  static bool reaches_arena(ir::Space space) {
    return space == ir::Space::global || space == ir::Space::constant ||
           space == ir::Space::generic;
  }

  /// All addresses that the operand can be.
  bool is_legal(const ir::Inst& inst, const ir::Known& at) const {
    const ir::Mem& m = *inst.mem;
    const auto distance = static_cast<uint64_t>(m.offset < 0 ? -m.offset : m.offset);
    const ir::Operand& base = inst.src[0];
    const bool narrow = base.is_reg() && program_.regs[base.index].width != ir::Width::b64;
    if (narrow && (m.offset < 0 || at.most + static_cast<uint64_t>(m.offset) > UINT32_MAX))
      return false;  // the sum may wrap
    if (at.most >= kFarthest || distance >= kFarthest) return false;
    if (m.offset < 0 && at.least < distance) return false;
    uint64_t first = at.least + static_cast<uint64_t>(m.offset);
    const uint64_t last = at.most + static_cast<uint64_t>(m.offset);
    const uint64_t low = std::bit_ceil(m.alignment()) - 1;
    if (m.align == ir::AlignRule::force) first &= ~low;
    if (m.align == ir::AlignRule::trap && !is_aligned(at, m.offset, low)) return false;
    return holds(first, last - first + m.bytes(), m.pointer, inst.op != ir::Op::load);
  }

  static bool is_aligned(const ir::Known& at, int64_t offset, uint64_t low) {
    if (const auto exact = at.constant())
      return ((*exact + static_cast<uint64_t>(offset)) & low) == 0;
    // Low bits that are known, plus the offset's, without a carry from below.
    const uint64_t known = at.zero | at.one;
    return (known & low) == low && ((at.one + static_cast<uint64_t>(offset)) & low) == 0;
  }

  bool holds(uint64_t address, uint64_t bytes, uint32_t pointer, bool write) const {
    const Allocation* found = allocation_at(facts_.live, address, bytes);
    if (found == nullptr || (write && found->read_only)) return false;
    if (pointer == ir::kNone || !bounds_) return true;
    const auto& through = pointers_.through;
    // A pointer that is laid down behind the arguments is not known here.
    if (pointer < through.size() && uint64_t{through[pointer]} + 8 > facts_.params.size())
      return false;
    return (*bounds_)[pointer].allows(address, bytes, write);
  }

  CertainFacts facts_;
  ir::Program program_;
  ir::PointerParams pointers_;
  std::optional<std::vector<PointerBounds>> bounds_;
};

}  // namespace

std::vector<bool> certain_accesses(const ir::Program& program, const CertainFacts& facts) {
  return Search(program, facts).run();
}

void mark_certain(ir::Program& program, const std::vector<bool>& certain) {
  size_t n = 0;
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts)
      if (is_access(inst) && certain[n++]) inst.mem->certain = ir::Certain::guarded;
}

}  // namespace lanewise::guest
