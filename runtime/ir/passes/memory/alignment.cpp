#include "runtime/ir/passes/memory/alignment.hpp"

#include <algorithm>
#include <bit>

#include "runtime/ir/passes/values/numbers.hpp"

namespace lanewise::ir {

void find_alignment(Program& program, bool aligned_pointers) {
  const auto open = [](const Inst& i) {
    return i.mem && i.mem->align != AlignRule::trap && !i.src.empty() && i.event == 0;
  };
  if (!any_inst(program, open)) return;
  const Numbers numbers(program, {.aligned_pointers = aligned_pointers});
  for (uint32_t b = 0; b < program.blocks.size(); ++b)
    for (size_t n = 0; n < program.blocks[b].insts.size(); ++n) {
      Inst& i = program.blocks[b].insts[n];
      if (!open(i)) continue;
      const uint64_t low = std::bit_ceil(i.mem->alignment()) - 1;
      const bool aligned = (numbers.use(b, n, 0).zero & low) == low;
      if (aligned && (static_cast<uint64_t>(i.mem->offset) & low) == 0)
        i.mem->align = AlignRule::trap;
    }
}

}  // namespace lanewise::ir
