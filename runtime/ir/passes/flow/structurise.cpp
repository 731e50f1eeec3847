#include <stdexcept>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/dispatch.hpp"
#include "runtime/ir/passes/flow/structure.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

std::optional<std::vector<Node>> try_structure(Program& program, const TreeLimits& limits) {
  auto body = structure::build_tree(program, limits.depth);
  if (!body) return std::nullopt;
  structure::clean_tree(*body);
  const structure::Nesting nest = structure::nesting(*body);
  if (nest.constructs > limits.constructs || nest.ifs > limits.ifs) return std::nullopt;
  structure::lower_far_jumps(program, *body);
  return body;
}

/// Every block that is reached in two ways goes behind one dispatch block. What remains is a single
/// loop around a balanced tree of tests: slower, but never deep.
void flatten(Program& program) {
  detach_entry(program);
  const Graph graph = block_graph(program);
  const BlockOrder order = reverse_postorder(graph);
  std::vector<uint32_t> entries;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    size_t ways = 0;
    for (const uint32_t p : graph.preds[b]) ways += order.reachable(p) ? 1 : 0;
    if (order.reachable(b) && ways > 1) entries.push_back(b);
  }
  add_dispatch(program, entries);
  lower_switches(program);
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
    body = try_structure(s.program, limits);
    if (!body) throw std::logic_error("structurise: a flattened program nests too deep");
  }
  s.body = std::move(*body);
  return s;
}

}  // namespace lanewise::ir
