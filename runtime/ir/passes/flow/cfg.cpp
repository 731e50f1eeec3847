#include "runtime/ir/passes/flow/cfg.hpp"

#include <algorithm>
#include <utility>

namespace lanewise::ir {

void Graph::add_edge(uint32_t from, uint32_t to) {
  auto& out = succs[from];
  if (std::find(out.begin(), out.end(), to) != out.end()) return;
  out.push_back(to);
  preds[to].push_back(from);
}

Graph Graph::reversed(uint32_t new_root) const {
  Graph g;
  g.succs = preds;
  g.preds = succs;
  g.root = new_root;
  return g;
}

Graph block_graph(const Program& program) {
  Graph g(program.blocks.size());
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    // A switch may name one target thousands of times: merge by sorting.
    std::vector<uint32_t> seen = program.blocks[b].term.targets;
    if (seen.size() > 2) {
      std::sort(seen.begin(), seen.end());
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
      g.succs[b] = seen;
      for (const uint32_t t : seen) g.preds[t].push_back(b);
    } else {
      for (const uint32_t t : seen) g.add_edge(b, t);
    }
  }
  return g;
}

namespace {

/// Depth-first preorder and postorder from the root, without recursion.
struct Walk {
  std::vector<uint32_t> preorder, postorder, parent;
};
Walk depth_first(const Graph& g) {
  Walk w;
  w.parent.assign(g.size(), kNone);
  std::vector<bool> seen(g.size());
  std::vector<std::pair<uint32_t, size_t>> stack{{g.root, 0}};
  seen[g.root] = true;
  w.preorder.push_back(g.root);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == g.succs[node].size()) {
      w.postorder.push_back(node);
      stack.pop_back();
      continue;
    }
    const uint32_t from = node, to = g.succs[node][next++];
    if (seen[to]) continue;
    seen[to] = true;
    w.parent[to] = from;
    w.preorder.push_back(to);
    stack.push_back({to, 0});
  }
  return w;
}

/// Semi-dominators with path compression (Lengauer and Tarjan), immediate dominators by climbing.
class DominatorBuilder {
 public:
  explicit DominatorBuilder(const Graph& g) : g_(g), walk_(depth_first(g)) {
    const size_t n = walk_.preorder.size();
    number_.assign(g.size(), kNone);
    for (uint32_t i = 0; i < n; ++i) number_[walk_.preorder[i]] = i;
    parent_.resize(n);
    for (uint32_t i = 1; i < n; ++i) parent_[i] = number_[walk_.parent[walk_.preorder[i]]];
    ancestor_ = parent_;
    semi_.resize(n);
    best_.resize(n);
    for (uint32_t i = 0; i < n; ++i) semi_[i] = best_[i] = i;
  }

  std::vector<uint32_t> run() {
    const auto n = static_cast<uint32_t>(walk_.preorder.size());
    for (uint32_t w = n; w-- > 1;) {
      uint32_t s = parent_[w];
      for (const uint32_t p : g_.preds[walk_.preorder[w]]) {
        if (number_[p] != kNone) s = std::min(s, eval(number_[p], w));
      }
      semi_[w] = s;
    }
    std::vector<uint32_t> idom(parent_);
    for (uint32_t w = 1; w < n; ++w) {
      while (idom[w] > semi_[w]) idom[w] = idom[idom[w]];
    }
    std::vector<uint32_t> out(g_.size(), kNone);
    for (uint32_t w = 1; w < n; ++w) out[walk_.preorder[w]] = walk_.preorder[idom[w]];
    return out;
  }

 private:
  /// Least semi-dominator on the tree path from v up to the last node numbered above `current`.
  uint32_t eval(uint32_t v, uint32_t current) {
    if (v <= current) return v;
    path_.clear();
    while (ancestor_[v] > current) {
      path_.push_back(v);
      v = ancestor_[v];
    }
    const uint32_t top = ancestor_[v];
    uint32_t least = best_[v];
    for (size_t i = path_.size(); i-- > 0;) {
      const uint32_t x = path_[i];
      if (semi_[least] < semi_[best_[x]]) best_[x] = least;
      least = best_[x];
      ancestor_[x] = top;
    }
    return semi_[least];
  }

  const Graph& g_;
  Walk walk_;
  std::vector<uint32_t> number_, parent_, ancestor_, semi_, best_, path_;
};

void number_tree(DomTree& tree, uint32_t root) {
  const size_t n = tree.parent.size();
  std::vector<std::vector<uint32_t>> children(n);
  for (uint32_t i = 0; i < n; ++i) {
    if (tree.parent[i] != kNone) children[tree.parent[i]].push_back(i);
  }
  tree.enter.assign(n, kNone);
  tree.leave.assign(n, kNone);
  uint32_t clock = 0;
  std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}};
  tree.enter[root] = clock++;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == children[node].size()) {
      tree.leave[node] = clock;
      stack.pop_back();
      continue;
    }
    const uint32_t child = children[node][next++];
    tree.enter[child] = clock++;
    stack.push_back({child, 0});
  }
}

}  // namespace

BlockOrder reverse_postorder(const Graph& graph) {
  BlockOrder order;
  order.nodes = depth_first(graph).postorder;
  std::reverse(order.nodes.begin(), order.nodes.end());
  order.index.assign(graph.size(), kNone);
  for (uint32_t i = 0; i < order.nodes.size(); ++i) order.index[order.nodes[i]] = i;
  return order;
}

DomTree dominators(const Graph& graph) {
  DomTree tree;
  tree.parent = DominatorBuilder(graph).run();
  number_tree(tree, graph.root);
  return tree;
}

DomTree postdominators(const Graph& graph, const std::vector<bool>& may_end) {
  const auto n = static_cast<uint32_t>(graph.size());
  Graph g(n + 1);
  for (uint32_t b = 0; b < n; ++b) {
    g.succs[b] = graph.succs[b];
    g.preds[b] = graph.preds[b];
    if (g.succs[b].empty() || (!may_end.empty() && may_end[b])) g.add_edge(b, n);
  }
  const BlockOrder back = reverse_postorder(g.reversed(n));
  for (uint32_t b = 0; b < n; ++b) {
    if (!back.reachable(b)) g.add_edge(b, n);
  }
  return dominators(g.reversed(n));
}

bool reducible(const Graph& graph, const BlockOrder& order, const DomTree& dom) {
  for (const uint32_t b : order.nodes) {
    for (const uint32_t t : graph.succs[b]) {
      if (order.index[t] <= order.index[b] && !dom.dominates(t, b)) return false;
    }
  }
  return true;
}

Loops loops(const Graph& graph, const BlockOrder& order, const DomTree& dom) {
  const size_t n = graph.size();
  Loops l{std::vector<bool>(n), std::vector<uint32_t>(n, kNone), std::vector<uint32_t>(n, kNone),
          std::vector<uint32_t>(n, 0)};
  // Loops found so far are collapsed into their header: whole(x) is the outermost such header.
  std::vector<uint32_t> collapsed(n);
  for (uint32_t i = 0; i < n; ++i) collapsed[i] = i;
  const auto whole = [&](uint32_t x) {
    while (collapsed[x] != x) x = collapsed[x] = collapsed[collapsed[x]];
    return x;
  };
  for (size_t i = order.nodes.size(); i-- > 0;) {
    const uint32_t h = order.nodes[i];
    std::vector<uint32_t> work;
    for (const uint32_t p : graph.preds[h]) {
      if (order.reachable(p) && dom.dominates(h, p)) {
        l.is_header[h] = true;
        work.push_back(whole(p));
      }
    }
    while (!work.empty()) {
      const uint32_t x = work.back();
      work.pop_back();
      if (x == h || collapsed[x] == h) continue;
      (l.is_header[x] ? l.parent[x] : l.header[x]) = h;
      collapsed[x] = h;
      for (const uint32_t p : graph.preds[x]) {
        if (order.reachable(p)) work.push_back(whole(p));
      }
    }
    if (l.is_header[h]) l.header[h] = h;
  }
  for (const uint32_t b : order.nodes) {
    if (l.is_header[b]) l.depth[b] = l.parent[b] == kNone ? 1 : l.depth[l.parent[b]] + 1;
  }
  return l;
}

// Tarjan's algorithm with an explicit stack; low_ doubles as the mark of what was seen.
std::vector<std::vector<uint32_t>> Components::of(const std::vector<uint32_t>& nodes) {
  low_.resize(graph_.size(), kOutside);
  number_.resize(graph_.size());
  on_path_.resize(graph_.size());
  for (const uint32_t n : nodes) low_[n] = kFresh;
  clock_ = 0;
  std::vector<std::vector<uint32_t>> found;
  for (const uint32_t start : nodes) {
    if (low_[start] == kFresh) search(start, found);
  }
  for (const uint32_t n : nodes) low_[n] = kOutside;
  return found;
}

void Components::open(uint32_t n) {
  low_[n] = number_[n] = clock_++;
  on_path_[n] = true;
  path_.push_back(n);
  stack_.push_back({n, 0});
}

void Components::search(uint32_t start, std::vector<std::vector<uint32_t>>& found) {
  open(start);
  while (!stack_.empty()) {
    const uint32_t n = stack_.back().first;
    if (stack_.back().second < graph_.succs[n].size()) {
      const uint32_t to = graph_.succs[n][stack_.back().second++];
      if (low_[to] == kFresh) {
        open(to);
      } else if (low_[to] != kOutside && on_path_[to]) {
        low_[n] = std::min(low_[n], number_[to]);
      }
      continue;
    }
    stack_.pop_back();
    if (!stack_.empty()) {
      uint32_t& above = low_[stack_.back().first];
      above = std::min(above, low_[n]);
    }
    if (low_[n] == number_[n]) close(n, found.emplace_back());
  }
}

void Components::close(uint32_t n, std::vector<uint32_t>& component) {
  uint32_t member = kNone;
  while (member != n) {
    member = path_.back();
    path_.pop_back();
    on_path_[member] = false;
    component.push_back(member);
  }
}

}  // namespace lanewise::ir
