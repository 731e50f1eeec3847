#include <algorithm>

#include "runtime/ir/passes/values/values.hpp"
#include "runtime/ir/yield.hpp"

namespace lanewise::ir {
namespace {

/// All lanes of the group wait there, and see what was written before.
bool is_group_barrier(const Inst& i) {
  return is_waiting_barrier(i) && i.guard.always() && i.event == 0 && i.src.size() > 1 &&
         i.src[1].is_imm() && i.src[1].imm == 0;
}

/// Lanes of one group are all that it is for.
bool is_group_fence(const Inst& i) {
  return i.op == Op::fence && i.event == 0 && i.mem && i.mem->scope == Scope::cta;
}

/// Accesses, and whatever may have to do with them.
bool is_ordered(const Inst& i) {
  return info(i.op).trait != OpTrait::pure && !(i.op == Op::load && i.mem->space == Space::param);
}

}  // namespace

/// Whatever another lane of the group does stands on one side of the barrier, and so on one side of
/// a fence next to it.
bool drop_fences(Program& program, const PassOptions&) {
  bool changed = false;
  for (Block& block : program.blocks) {
    std::vector<bool> gone(block.insts.size());
    const auto walk = [&](size_t first, size_t step) {
      bool beside = false;
      for (size_t n = first; n < block.insts.size(); n += step) {
        const Inst& i = block.insts[n];
        if (is_group_fence(i))
          gone[n] = gone[n] || beside;
        else if (is_ordered(i))
          beside = is_group_barrier(i);
      }
    };
    walk(0, 1);
    walk(block.insts.size() - 1, ~size_t{0});
    size_t n = 0;
    changed = std::erase_if(block.insts, [&](const Inst&) { return gone[n++]; }) != 0 || changed;
  }
  return changed;
}

}  // namespace lanewise::ir
