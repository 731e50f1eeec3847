#include "runtime/ir/passes/values/dataflow.hpp"

#include <bit>

namespace lanewise::ir {

Dataflow::Dataflow(const Ssa& ssa)
    : ssa_(ssa),
      waiting_(ssa.nodes() / 64 + 1),
      taken_(ssa.edges()),
      reached_(ssa.program().blocks.size()) {
  if (!reached_.empty()) enter(0);
}

/// The first of them, so that a loop settles before what comes behind it is looked at again.
uint32_t Dataflow::next() {
  for (; at_ < waiting_.size(); ++at_) {
    if (waiting_[at_] == 0) continue;
    const auto bit = static_cast<uint32_t>(std::countr_zero(waiting_[at_]));
    waiting_[at_] &= waiting_[at_] - 1;
    return static_cast<uint32_t>(at_) * 64 + bit;
  }
  return kNone;
}

void Dataflow::enter(uint32_t block) {
  reached_[block] = true;
  const uint32_t first = ssa_.first_node(block);
  const size_t nodes = ssa_.arguments(block) + ssa_.program().blocks[block].insts.size() + 1;
  for (uint32_t n = 0; n < nodes; ++n) touch(first + n);
}

void Dataflow::reach(uint32_t from, uint32_t n) {
  const uint32_t edge = ssa_.first_edge(from) + n;
  if (taken_[edge]) return;
  taken_[edge] = true;
  const uint32_t to = ssa_.graph().succs[from][n];
  if (!reached_[to]) return enter(to);
  for (uint32_t k = 0; k < ssa_.arguments(to); ++k) touch(ssa_.first_node(to) + k);
}

void Dataflow::reach_all(uint32_t from) {
  for (uint32_t n = 0; n < ssa_.graph().succs[from].size(); ++n) reach(from, n);
}

void Dataflow::touch_block(uint32_t block) {
  if (!reached_[block]) return;
  enter(block);
  for (const uint32_t to : ssa_.graph().succs[block])
    for (uint32_t k = 0; k < ssa_.arguments(to); ++k) touch(ssa_.first_node(to) + k);
}

}  // namespace lanewise::ir
