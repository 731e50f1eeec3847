#include "runtime/ir/passes/flow/liveness.hpp"

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {

void step_back(const Inst& inst, std::vector<bool>& live) {
  // A guarded instruction may leave the old value in place: it reads as well as writes.
  if (inst.guard.always()) {
    for (const Reg r : inst.dst) live[r.id] = false;
  }
  for_each_use(inst, [&](uint32_t r) { live[r] = true; });
}

void step_back(const Terminator& term, std::vector<bool>& live) {
  for_each_use(term, [&](uint32_t r) { live[r] = true; });
}

namespace {

/// What a block does to liveness as a whole: live in = read, or live out and not written.
struct Effect {
  std::vector<bool> read, written;
};
Effect effect_of(const Block& block, size_t regs) {
  Effect e{std::vector<bool>(regs), std::vector<bool>(regs)};
  step_back(block.term, e.read);
  for (size_t i = block.insts.size(); i-- > 0;) {
    const Inst& inst = block.insts[i];
    step_back(inst, e.read);
    if (!inst.guard.always()) continue;
    for (const Reg r : inst.dst) e.written[r.id] = true;
  }
  return e;
}

}  // namespace

Liveness liveness(const Program& program) {
  const Graph graph = block_graph(program);
  const size_t blocks = program.blocks.size(), regs = program.regs.size();
  Liveness l;
  l.out.assign(blocks, std::vector<bool>(regs));
  std::vector<Effect> effects;
  effects.reserve(blocks);
  for (const Block& b : program.blocks) {
    effects.push_back(effect_of(b, regs));
    l.in.push_back(effects.back().read);
  }
  // One register at a time, from its reads backwards: touches only blocks where it is live.
  std::vector<std::vector<uint32_t>> readers(regs);
  for (uint32_t b = 0; b < blocks; ++b) {
    for (size_t r = 0; r < regs; ++r) {
      if (effects[b].read[r]) readers[r].push_back(b);
    }
  }
  std::vector<uint32_t> work;
  for (size_t r = 0; r < regs; ++r) {
    work = readers[r];
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      for (const uint32_t p : graph.preds[b]) {
        if (l.out[p][r]) continue;
        l.out[p][r] = true;
        if (effects[p].written[r] || l.in[p][r]) continue;
        l.in[p][r] = true;
        work.push_back(p);
      }
    }
  }
  return l;
}

}  // namespace lanewise::ir
