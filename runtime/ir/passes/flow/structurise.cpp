#include <algorithm>
#include <stdexcept>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/dispatch.hpp"
#include "runtime/ir/passes/flow/structure.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

bool fits(const std::vector<Node>& body, const TreeLimits& limits) {
  const structure::Nesting nest = structure::nesting(body, limits.rows);
  return nest.constructs <= limits.constructs && nest.ifs <= limits.ifs;
}

/// Scopes for rows of exits cost a flag and a test each: as few as will do.
std::optional<std::vector<Node>> try_structure(Program& program, const TreeLimits& limits) {
  const auto body = structure::build_tree(program, limits.depth);
  if (!body) return std::nullopt;
  for (const structure::Rows rows : {structure::Rows{24, 8}, structure::Rows{6, 4}}) {
    std::vector<Node> tried = *body;
    Program changed = program;
    structure::clean_tree(tried);
    if (limits.rows) structure::split_rows(program, rows, tried);
    structure::lower_far_jumps(changed, tried);
    if (fits(tried, limits)) {
      program = std::move(changed);
      return tried;
    }
    if (!limits.rows) break;
  }
  return std::nullopt;
}

/// So many blocks in a row, each reached from the one before alone, may nest in a flattened
/// program.
constexpr uint32_t kMostInChain = 16;

/// Every block that is reached in two ways goes behind one dispatch block, and so do some along
/// long chains of others. What remains is a single loop around a balanced tree of tests: slower,
/// but never deep. Where no jump was a step of the budget, those to the dispatch block are none.
void flatten(Program& program) {
  const bool counts = takes_steps(program);
  detach_entry(program);
  const Graph graph = block_graph(program);
  const BlockOrder order = reverse_postorder(graph);
  std::vector<uint32_t> entries, chain(program.blocks.size());
  for (const uint32_t b : order.nodes) {
    const auto reachable = [&](uint32_t p) { return order.reachable(p); };
    const auto ways = std::ranges::count_if(graph.preds[b], reachable);
    if (ways == 1) chain[b] = chain[*std::ranges::find_if(graph.preds[b], reachable)] + 1;
    if (ways <= 1 && chain[b] <= kMostInChain) continue;
    chain[b] = 0;
    entries.push_back(b);
  }
  std::ranges::sort(entries);
  add_dispatch(program, entries);
  lower_switches(program);
  if (counts) return;
  for (Block& block : program.blocks) block.term.counts = false;
}

}  // namespace

Structured structurise(const Program& program, const TreeLimits& limits) {
  Structured s{program, {}};
  make_reducible(s.program);
  lower_switches(s.program);
  detach_entry(s.program);
  auto body = try_structure(s.program, limits);
  if (!body) {
    s.program = program;
    lower_switches(s.program);
    flatten(s.program);
    s.flattened = true;
    body = try_structure(s.program, limits);
    if (!body) throw std::logic_error("structurise: a flattened program nests too deep");
  }
  s.body = std::move(*body);
  return s;
}

}  // namespace lanewise::ir
