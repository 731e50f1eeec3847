#include <algorithm>

#include "runtime/ir/passes/flow/structure.hpp"

namespace lanewise::ir::structure {
namespace {

class Splitter {
 public:
  Splitter(const Program& program, const Rows& rows)
      : rows_(rows), next_label_(scope_label(static_cast<uint32_t>(program.blocks.size()))) {}

  /// Returns the outermost construct that some jump in the list leaves: 0 = the kernel, 1 = the
  /// outermost construct, kNone = no jump.
  uint32_t list(std::vector<Node>& nodes, bool in_loop) {
    uint32_t lowest = kNone;
    std::vector<bool> leaves;
    for (Node& n : nodes) {
      const uint32_t to = visit(n, in_loop);
      leaves.push_back(to <= around_.size());
      lowest = std::min(lowest, to);
    }
    const auto ways = [&] { return static_cast<size_t>(std::ranges::count(leaves, true)); };
    if (in_loop || ways() <= rows_.most) return lowest;
    while (ways() > 2 * rows_.together) group(nodes, leaves);
    return lowest;
  }

 private:
  uint32_t visit(Node& n, bool in_loop) {
    switch (n.kind) {
      case Node::Kind::if_:
        return std::min(list(n.body, in_loop), list(n.otherwise, in_loop));
      case Node::Kind::exit:
        return 0;
      case Node::Kind::break_:
      case Node::Kind::continue_: {
        const auto at = std::ranges::find(around_, n.block);
        return static_cast<uint32_t>(at - around_.begin()) + 1;
      }
      case Node::Kind::loop:
      case Node::Kind::scope: {
        around_.push_back(n.block);
        const uint32_t to = list(n.body, n.kind == Node::Kind::loop);
        around_.pop_back();
        return to;
      }
      case Node::Kind::block:
      case Node::Kind::assign:
        break;
    }
    return kNone;
  }

  /// As many nodes as have so many exits go into a scope; the last ones stay as they are.
  void group(std::vector<Node>& nodes, std::vector<bool>& leaves) {
    std::vector<Node> out, some;
    std::vector<bool> out_leaves, some_leaves;
    size_t ways = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      some.push_back(std::move(nodes[i]));
      some_leaves.push_back(leaves[i]);
      if (leaves[i]) ++ways;
      if (ways < rows_.together) continue;
      Node scope;
      scope.kind = Node::Kind::scope;
      scope.block = next_label_++;
      scope.body = std::move(some);
      out.push_back(std::move(scope));
      out_leaves.push_back(true);
      some.clear();
      some_leaves.clear();
      ways = 0;
    }
    std::ranges::move(some, std::back_inserter(out));
    out_leaves.insert(out_leaves.end(), some_leaves.begin(), some_leaves.end());
    nodes = std::move(out);
    leaves = std::move(out_leaves);
  }

  const Rows rows_;
  std::vector<uint32_t> around_;  ///< labels
  uint32_t next_label_;           ///< that no block has
};

}  // namespace

void split_rows(const Program& program, const Rows& rows, std::vector<Node>& body) {
  Splitter(program, rows).list(body, false);
}

}  // namespace lanewise::ir::structure
