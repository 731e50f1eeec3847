// Graph facts about a program's blocks. All algorithms are iterative: depth never costs stack.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// A graph over 0..size-1 with one root; duplicate edges are merged.
struct Graph {
  std::vector<std::vector<uint32_t>> succs, preds;
  uint32_t root = 0;
  explicit Graph(size_t nodes = 0) : succs(nodes), preds(nodes) {}
  size_t size() const { return succs.size(); }
  void add_edge(uint32_t from, uint32_t to);
  Graph reversed(uint32_t new_root) const;
};

Graph block_graph(const Program& program);

/// Reverse postorder of the nodes reachable from the root.
struct BlockOrder {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> index;  ///< position in `nodes`, kNone when unreachable
  bool reachable(uint32_t n) const { return index[n] != kNone; }
};
BlockOrder reverse_postorder(const Graph& graph);

/// Dominator tree: `parent` of the root and of unreachable nodes is kNone.
struct DomTree {
  std::vector<uint32_t> parent;
  std::vector<uint32_t> enter, leave;  ///< preorder interval of the subtree
  bool dominates(uint32_t a, uint32_t b) const {
    return enter[a] != kNone && enter[b] != kNone && enter[a] <= enter[b] && leave[b] <= leave[a];
  }
  uint32_t subtree_size(uint32_t n) const { return leave[n] - enter[n]; }
};
DomTree dominators(const Graph& graph);

/// Post-dominators: node graph.size() is the virtual exit. Blocks that cannot reach an exit get an
/// edge to it each, so that nothing is claimed about them; so do the blocks of `may_end`.
DomTree postdominators(const Graph& graph, const std::vector<bool>& may_end = {});

/// Every cycle has one entry.
bool reducible(const Graph& graph, const BlockOrder& order, const DomTree& dom);

/// Natural loops of a reducible graph.
struct Loops {
  std::vector<bool> is_header;
  std::vector<uint32_t> header;  ///< header of the innermost loop around a node (itself if header)
  std::vector<uint32_t> parent;  ///< [header]: header of the loop around this loop, or kNone
  std::vector<uint32_t> depth;   ///< [header]: 1 = outermost
  bool contains(uint32_t of_header, uint32_t node) const {
    uint32_t h = header[node];
    while (h != kNone && h != of_header) h = parent[h];
    return h == of_header;
  }
};
Loops loops(const Graph& graph, const BlockOrder& order, const DomTree& dom);

/// Strongly connected components of sets of nodes; edges that leave the set do not count. The graph
/// may grow between calls.
class Components {
 public:
  explicit Components(const Graph& graph) : graph_(graph) {}
  std::vector<std::vector<uint32_t>> of(const std::vector<uint32_t>& nodes);

 private:
  static constexpr uint32_t kOutside = kNone, kFresh = kNone - 1;
  void open(uint32_t n);
  void search(uint32_t start, std::vector<std::vector<uint32_t>>& found);
  void close(uint32_t n, std::vector<uint32_t>& component);

  const Graph& graph_;
  std::vector<uint32_t> low_, number_, path_;
  std::vector<bool> on_path_;
  std::vector<std::pair<uint32_t, size_t>> stack_;
  uint32_t clock_ = 0;
};

}  // namespace lanewise::ir
