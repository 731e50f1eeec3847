#include <algorithm>

#include "runtime/ir/passes/cfg.hpp"
#include "runtime/ir/passes/simplify.hpp"

namespace lanewise::ir {
namespace {

bool only_jumps(const Block& b) {
  return b.insts.empty() && b.term.kind == Terminator::Kind::jump;
}

/// Where a jump to each block ends up once empty blocks are passed. Empty blocks in a circle keep
/// their own number: such a loop has to stay.
std::vector<uint32_t> final_targets(const Program& p) {
  constexpr uint32_t kUnknown = kNone;
  const auto n = static_cast<uint32_t>(p.blocks.size());
  std::vector<uint32_t> final(n, kUnknown), path;
  std::vector<bool> on_path(n);
  for (uint32_t start = 0; start < n; ++start) {
    uint32_t b = start;
    path.clear();
    while (final[b] == kUnknown && !on_path[b] && only_jumps(p.blocks[b])) {
      on_path[b] = true;
      path.push_back(b);
      b = p.blocks[b].term.targets[0];
    }
    const uint32_t end = final[b] == kUnknown ? b : final[b];
    for (const uint32_t x : path) final[x] = end;
    if (final[b] == kUnknown) final[b] = end;
    for (const uint32_t x : path) on_path[x] = false;
  }
  return final;
}

void thread_jumps(Program& p) {
  const std::vector<uint32_t> final = final_targets(p);
  for (Block& b : p.blocks) {
    Terminator& t = b.term;
    for (uint32_t& target : t.targets) target = final[target];
    const bool one_way =
        !t.targets.empty() && std::all_of(t.targets.begin(), t.targets.end(),
                                          [&](uint32_t x) { return x == t.targets[0]; });
    if (!one_way || t.kind == Terminator::Kind::jump) continue;
    Terminator jump;
    jump.kind = Terminator::Kind::jump;
    jump.targets = {t.targets[0]};
    jump.site = t.site;
    t = std::move(jump);
  }
}

/// Appends to each block what only it jumps to. The blocks taken become unreachable.
void join_blocks(Program& p) {
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
      if (next == b || next == 0 || ways[next] != 1) break;
      Block& other = p.blocks[next];
      taken[next] = true;
      if (block.label.empty()) block.label = other.label;
      std::move(other.insts.begin(), other.insts.end(), std::back_inserter(block.insts));
      block.term = std::move(other.term);
      other = Block{};
    }
  }
}

void drop_unreachable(Program& p) {
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
  p.blocks = std::move(kept);
}

}  // namespace

void simplify_blocks(Program& program) {
  if (program.blocks.empty()) return;
  thread_jumps(program);
  join_blocks(program);
  drop_unreachable(program);
}

}  // namespace lanewise::ir
