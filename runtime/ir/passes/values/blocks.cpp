#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

/// A back edge by index is what the step budget counts, and its terminator's site is what the
/// report names (docs/execution.md): none may come, go, or belong to another terminator.
bool thread_jumps(Program& p) {
  bool changed = false;
  // Where a jump to each block ends up once empty blocks in front of others are passed.
  std::vector<uint32_t> final(p.blocks.size());
  for (auto b = static_cast<uint32_t>(p.blocks.size()); b-- > 0;) {
    const Block& block = p.blocks[b];
    const bool passes = block.insts.empty() && block.term.kind == Terminator::Kind::jump &&
                        block.term.targets[0] > b;
    final[b] = passes ? final[block.term.targets[0]] : b;
  }
  for (uint32_t b = 0; b < p.blocks.size(); ++b) {
    Terminator& t = p.blocks[b].term;
    for (uint32_t& target : t.targets) {
      if (target <= b || final[target] == target) continue;
      target = final[target];
      changed = true;
    }
    const bool one_way =
        !t.targets.empty() && std::all_of(t.targets.begin(), t.targets.end(),
                                          [&](uint32_t x) { return x == t.targets[0]; });
    if (!one_way || t.kind == Terminator::Kind::jump) continue;
    Terminator jump = jump_to(t.targets[0], t.site);
    jump.counts = t.counts;
    t = std::move(jump);
    changed = true;
  }
  return changed;
}

/// No edge from `next` becomes a forward one when it starts at `block` instead.
bool keeps_back_edges(const Program& p, uint32_t block, uint32_t next) {
  const auto& targets = p.blocks[next].term.targets;
  return next > block && std::none_of(targets.begin(), targets.end(),
                                      [&](uint32_t t) { return t > block && t <= next; });
}

/// Appends to each block what only it jumps to. The blocks taken become unreachable.
bool join(Program& p) {
  bool changed = false;
  const Graph graph = block_graph(p);
  const BlockOrder order = reverse_postorder(graph);
  std::vector<uint32_t> ways(p.blocks.size());
  ways[0] = 1;
  for (const uint32_t b : order.nodes) {
    for (const uint32_t t : graph.succs[b]) ++ways[t];
  }
  std::vector<bool> taken(p.blocks.size());
  for (const uint32_t b : order.nodes) {
    if (taken[b]) continue;
    Block& block = p.blocks[b];
    while (block.term.kind == Terminator::Kind::jump) {
      const uint32_t next = block.term.targets[0];
      if (next == 0 || ways[next] != 1 || !keeps_back_edges(p, b, next)) break;
      Block& other = p.blocks[next];
      taken[next] = changed = true;
      if (block.label.empty()) block.label = other.label;
      std::move(other.insts.begin(), other.insts.end(), std::back_inserter(block.insts));
      block.term = std::move(other.term);
      other = Block{};
    }
  }
  return changed;
}

bool drop_unreachable(Program& p) {
  const BlockOrder order = reverse_postorder(block_graph(p));
  std::vector<uint32_t> number(p.blocks.size(), kNone);
  std::vector<Block> kept;
  for (uint32_t b = 0; b < p.blocks.size(); ++b) {
    if (!order.reachable(b)) continue;
    number[b] = static_cast<uint32_t>(kept.size());
    kept.push_back(std::move(p.blocks[b]));
  }
  for (Block& b : kept) {
    for (uint32_t& t : b.term.targets) t = number[t];
  }
  const bool changed = kept.size() != p.blocks.size();
  p.blocks = std::move(kept);
  return changed;
}

}  // namespace

bool flow_is_free(const Program& program) {
  return !has_wave_ops(program);
}

bool join_blocks(Program& program, const PassOptions&) {
  if (program.blocks.empty() || !flow_is_free(program)) return false;
  bool changed = thread_jumps(program);
  changed = join(program) || changed;
  return drop_unreachable(program) || changed;
}

}  // namespace lanewise::ir
