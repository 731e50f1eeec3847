// The one engine of analyses over values: it starts from nothing known and looks at what reads a
// value again when more becomes possible for it, along edges that may be taken at all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::ir {

class Dataflow {
 public:
  explicit Dataflow(const Ssa& ssa);

  /// An analysis has `argument(value)`, `instruction(block, index)` and `leave(block)`. These join
  /// facts, call changed() for each value of which more has become possible, and reach() for edges.
  template <typename Analysis>
  void run(Analysis& analysis) {
    for (uint32_t node = next(); node != kNone; node = next()) visit(analysis, node);
  }
  /// Each node that is reached once, in reverse postorder.
  template <typename Analysis>
  void sweep(Analysis& analysis) {
    for (uint32_t node = 0; node < ssa_.nodes(); ++node)
      if (reached_[ssa_.block_of(node)]) visit(analysis, node);
  }

  void changed(uint32_t value) {
    for (const uint32_t node : ssa_.users(value)) touch(node);
  }
  /// Edge `n` of the block's successors.
  void reach(uint32_t from, uint32_t n);
  void reach_all(uint32_t from);
  void touch(uint32_t node) {
    if (!reached_[ssa_.block_of(node)]) return;
    waiting_[node / 64] |= uint64_t{1} << node % 64;
    at_ = std::min<size_t>(at_, node / 64);
  }
  /// All of the block, and arguments of those that it leads to.
  void touch_block(uint32_t block);
  bool taken(const Ssa::Incoming& in) const { return in.from == kNone || taken_[in.edge]; }
  bool reached(uint32_t block) const { return reached_[block]; }

 private:
  template <typename Analysis>
  void visit(Analysis& analysis, uint32_t node) {
    const uint32_t block = ssa_.block_of(node), index = node - ssa_.first_node(block);
    const uint32_t args = ssa_.arguments(block);
    if (index < args)
      analysis.argument(ssa_.first_argument(block) + index);
    else if (index - args < ssa_.program().blocks[block].insts.size())
      analysis.instruction(block, index - args);
    else
      analysis.leave(block);
  }
  uint32_t next();
  void enter(uint32_t block);

  const Ssa& ssa_;
  std::vector<uint64_t> waiting_;  ///< a bit a node
  std::vector<bool> taken_, reached_;
  size_t at_ = 0;  ///< nothing before this word waits
};

}  // namespace lanewise::ir
