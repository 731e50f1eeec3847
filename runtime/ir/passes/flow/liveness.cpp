#include "runtime/ir/passes/flow/liveness.hpp"

#include "runtime/ir/passes/flow/blocks_by_register.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
/// One register at a time, from its reads backwards: touches only blocks where it is live.
Liveness liveness(const Program& program) {
  const Graph graph = block_graph(program);
  const size_t blocks = program.blocks.size();
  // That read it before they write it, and that write it whatever happens: a guarded instruction
  // may leave the old value in place.
  BlocksByRegister reads(program.regs.size()), writes(program.regs.size());
  for (uint32_t b = 0; b < blocks; ++b) {
    const auto read = [&](uint32_t r) {
      if (!writes.is_last(r, b)) reads.add(r, b);
    };
    for (const Inst& inst : program.blocks[b].insts) {
      for_each_use(inst, read);
      if (!inst.guard.always()) continue;
      for (const Reg r : inst.dst)
        if (r.valid()) writes.add(r.id, b);
    }
    for_each_use(program.blocks[b].term, read);
  }
  reads.sort();
  writes.sort();
  Liveness l{std::vector<std::vector<uint32_t>>(blocks),
             std::vector<std::vector<uint32_t>>(blocks)};
  std::vector<uint32_t> written(blocks, kNone);  // the last register of which that is so
  std::vector<uint32_t> work;
  for (uint32_t r = 0; r < program.regs.size(); ++r) {
    const auto add = [r](std::vector<uint32_t>& regs) {
      const bool fresh = regs.empty() || regs.back() != r;
      if (fresh) regs.push_back(r);
      return fresh;
    };
    for (const uint32_t b : writes.of(r)) written[b] = r;
    work.assign(reads.of(r).begin(), reads.of(r).end());
    for (const uint32_t b : work) add(l.in[b]);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      for (const uint32_t p : graph.preds[b])
        if (add(l.out[p]) && written[p] != r && add(l.in[p])) work.push_back(p);
    }
  }
  return l;
}

}  // namespace lanewise::ir
