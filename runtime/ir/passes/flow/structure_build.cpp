// From the dominator tree to nested statements, after N. Ramsey, "Beyond Relooper" (2022), with one
// difference: what a loop leads to is placed after the loop, not inside it, so that lanes which
// leave the loop at different times meet again behind it.
#include <algorithm>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/structure.hpp"

namespace lanewise::ir::structure {
namespace {

/// From here on the larger side of a branch is not nested but follows the smaller one.
constexpr uint32_t kMaxNestedIfs = 24;

class TreeBuilder {
 public:
  TreeBuilder(const Program& p, uint32_t max_depth)
      : p_(p),
        max_depth_(max_depth),
        graph_(block_graph(p)),
        order_(reverse_postorder(graph_)),
        dom_(dominators(graph_)),
        loops_(ir::loops(graph_, order_, dom_)),
        merges_(p.blocks.size()),
        exits_(p.blocks.size()),
        labelled_(p.blocks.size()) {
    for (const uint32_t b : order_.nodes) place(b);
  }

  std::optional<std::vector<Node>> run() {
    std::vector<Node> body;
    tree(0, body, 0);
    if (too_deep_) return std::nullopt;
    return body;
  }

 private:
  bool is_back_edge(uint32_t from, uint32_t to) const {
    return order_.index[to] <= order_.index[from];
  }

  /// Decides whether `b` stands behind a loop, behind a scope, or in the branch that leads to it.
  /// Called in reverse postorder, so the lists come out sorted.
  void place(uint32_t b) {
    const uint32_t above = dom_.parent[b];
    if (above == kNone) return;
    const uint32_t left = outermost_loop_left(above, b);
    size_t forward = 0;
    for (const uint32_t p : graph_.preds[b]) {
      if (order_.reachable(p) && !is_back_edge(p, b)) ++forward;
    }
    if (left != kNone) {
      exits_[left].push_back(b);
    } else if (forward > 1) {
      merges_[above].push_back(b);
    } else {
      return;
    }
    labelled_[b] = true;
  }

  /// Header of the outermost loop that contains `from` but not `to`, or kNone.
  uint32_t outermost_loop_left(uint32_t from, uint32_t to) const {
    uint32_t a = loops_.header[from], c = loops_.header[to], left = kNone;
    while (a != c) {
      const uint32_t depth_a = a == kNone ? 0 : loops_.depth[a];
      const uint32_t depth_c = c == kNone ? 0 : loops_.depth[c];
      if (depth_a >= depth_c) {
        left = a;
        a = loops_.parent[a];
      }
      if (depth_c >= depth_a) c = loops_.parent[c];
    }
    return left;
  }

  /// Everything that `x` dominates, appended to `out`.
  void tree(uint32_t x, std::vector<Node>& out, uint32_t depth) {
    while (x != kNone && !too_deep_) {
      if (depth > max_depth_) {
        too_deep_ = true;
        return;
      }
      x = loops_.is_header[x] ? loop(x, out, depth) : inside(x, out, depth);
    }
  }

  /// The loop headed by `x`; returns what follows in the same list.
  uint32_t loop(uint32_t x, std::vector<Node>& out, uint32_t depth) {
    const auto& after = exits_[x];
    wrap(after, after.size(), out, depth, [&](std::vector<Node>& list, uint32_t d) {
      Node n;
      n.kind = Node::Kind::loop;
      n.block = loop_label(x);
      n.site = back_edge_site(x);
      n.counts = counts(x);
      tree(inside(x, n.body, d + 1), n.body, d + 1);
      list.push_back(std::move(n));
      return kNone;
    });
    return after.empty() ? kNone : after.back();
  }

  uint32_t inside(uint32_t x, std::vector<Node>& out, uint32_t depth) {
    const auto& after = merges_[x];
    if (after.empty()) return statement(x, out, depth);
    wrap(after, after.size(), out, depth,
         [&](std::vector<Node>& list, uint32_t d) { return statement(x, list, d); });
    return after.back();
  }

  /// One scope for each of the first `count` blocks of `after`, the first innermost; each block
  /// follows its scope, but the last one is left to the caller.
  template <typename Core>
  void wrap(const std::vector<uint32_t>& after, size_t count, std::vector<Node>& out,
            uint32_t depth, const Core& core) {
    if (too_deep_ || depth > max_depth_) {
      too_deep_ = true;
      return;
    }
    if (count == 0) {
      tree(core(out, depth), out, depth);
      return;
    }
    Node scope;
    scope.kind = Node::Kind::scope;
    scope.block = scope_label(after[count - 1]);
    wrap(after, count - 1, scope.body, depth + 1, core);
    if (count >= 2) tree(after[count - 2], scope.body, depth + 1);
    out.push_back(std::move(scope));
  }

  uint32_t back_edge_site(uint32_t header) const {
    for (const uint32_t p : graph_.preds[header]) {
      if (order_.reachable(p) && is_back_edge(p, header)) return p_.blocks[p].term.site;
    }
    return kNone;
  }

  bool counts(uint32_t header) const {
    return std::ranges::any_of(graph_.preds[header], [&](uint32_t p) {
      return order_.reachable(p) && is_back_edge(p, header) && p_.blocks[p].term.counts;
    });
  }

  /// The block itself and where it leads; returns what follows in the same list.
  uint32_t statement(uint32_t x, std::vector<Node>& out, uint32_t depth) {
    const Block& block = p_.blocks[x];
    if (!block.insts.empty()) {
      Node n;
      n.block = x;
      out.push_back(std::move(n));
    }
    const Terminator& t = block.term;
    if (t.kind == Terminator::Kind::exit) {
      Node n;
      n.kind = Node::Kind::exit;
      n.site = t.site;
      out.push_back(std::move(n));
      return kNone;
    }
    if (t.kind == Terminator::Kind::jump || t.targets[0] == t.targets[1]) {
      return edge(x, t.targets[0], out);
    }
    return branch(x, out, depth);
  }

  uint32_t branch(uint32_t x, std::vector<Node>& out, uint32_t depth) {
    const Terminator& t = p_.blocks[x].term;
    Node n;
    n.kind = Node::Kind::if_;
    n.cond = t.cond;
    n.site = t.site;
    if (depth < kMaxNestedIfs) {
      tree(edge(x, t.targets[0], n.body), n.body, depth + 1);
      tree(edge(x, t.targets[1], n.otherwise), n.otherwise, depth + 1);
      out.push_back(std::move(n));
      return kNone;
    }
    uint32_t nested = t.targets[0], following = t.targets[1];
    if (weight(x, nested) > weight(x, following)) {
      std::swap(nested, following);
      n.cond.negate = !n.cond.negate;
    }
    tree(edge(x, nested, n.body), n.body, depth + 1);
    out.push_back(std::move(n));
    return edge(x, following, out);
  }

  uint32_t weight(uint32_t from, uint32_t to) const {
    return is_back_edge(from, to) || labelled_[to] ? 0 : dom_.subtree_size(to);
  }

  /// Appends the jump that the edge is, or returns the block to go on with when it is none.
  uint32_t edge(uint32_t from, uint32_t to, std::vector<Node>& out) const {
    const bool back = is_back_edge(from, to);
    if (!back && !labelled_[to]) return to;
    Node n;
    n.kind = back ? Node::Kind::continue_ : Node::Kind::break_;
    n.block = back ? loop_label(to) : scope_label(to);
    n.site = p_.blocks[from].term.site;
    out.push_back(std::move(n));
    return kNone;
  }

  const Program& p_;
  const uint32_t max_depth_;
  Graph graph_;
  BlockOrder order_;
  DomTree dom_;
  Loops loops_;
  std::vector<std::vector<uint32_t>> merges_;  ///< [dominator]: merge points right below it
  std::vector<std::vector<uint32_t>> exits_;   ///< [header]: blocks placed behind its loop
  std::vector<bool> labelled_;
  bool too_deep_ = false;
};

}  // namespace

std::optional<std::vector<Node>> build_tree(const Program& program, uint32_t max_depth) {
  return TreeBuilder(program, max_depth).run();
}

}  // namespace lanewise::ir::structure
