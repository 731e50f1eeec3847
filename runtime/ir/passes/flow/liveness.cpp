#include "runtime/ir/passes/flow/liveness.hpp"

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

/// Blocks that read a register before they write it, and those that write it whatever happens: a
/// guarded instruction may leave the old value in place.
struct Sites {
  std::vector<uint32_t> reads, writes;
};
std::vector<Sites> sites_of(const Program& program) {
  std::vector<Sites> sites(program.regs.size());
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const auto last_is = [b](const std::vector<uint32_t>& blocks) {
      return !blocks.empty() && blocks.back() == b;
    };
    const auto read = [&](uint32_t r) {
      if (!last_is(sites[r].writes) && !last_is(sites[r].reads)) sites[r].reads.push_back(b);
    };
    for (const Inst& inst : program.blocks[b].insts) {
      for_each_use(inst, read);
      if (!inst.guard.always()) continue;
      for (const Reg r : inst.dst)
        if (r.valid() && !last_is(sites[r.id].writes)) sites[r.id].writes.push_back(b);
    }
    for_each_use(program.blocks[b].term, read);
  }
  return sites;
}

}  // namespace

/// One register at a time, from its reads backwards: touches only blocks where it is live.
Liveness liveness(const Program& program) {
  const Graph graph = block_graph(program);
  const std::vector<Sites> sites = sites_of(program);
  const size_t blocks = program.blocks.size();
  Liveness l{std::vector<std::vector<uint32_t>>(blocks),
             std::vector<std::vector<uint32_t>>(blocks)};
  std::vector<uint32_t> written(blocks, kNone);  // the last register of which that is so
  std::vector<uint32_t> work;
  for (uint32_t r = 0; r < sites.size(); ++r) {
    const auto add = [r](std::vector<uint32_t>& regs) {
      const bool fresh = regs.empty() || regs.back() != r;
      if (fresh) regs.push_back(r);
      return fresh;
    };
    for (const uint32_t b : sites[r].writes) written[b] = r;
    work = sites[r].reads;
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
