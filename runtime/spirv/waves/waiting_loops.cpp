#include "runtime/spirv/waves/waiting_loops.hpp"

#include <algorithm>
#include <set>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/dataflow.hpp"
#include "runtime/ir/yield.hpp"
#include "runtime/spirv/waves/swap_loops.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;

/// What another lane of the wave may have changed while this one looks again.
bool sees_others(const ir::Inst& inst) {
  if (inst.op == Op::atom) return !inst.dst.empty();
  return inst.op == Op::load && ir::is_strong(inst);
}

/// A lane's own memory, or what may be: what it keeps there comes back to it.
bool own_memory(const ir::Inst& inst) {
  return inst.mem->space == ir::Space::local || inst.mem->space == ir::Space::generic;
}

/// Values that depend on what others do: on what they left in memory, and, made in a loop around a
/// compare-and-swap, on how often they got in between.
class Tainted {
 public:
  Tainted(const ir::Ssa& ssa, const std::vector<SwapLoop>& swaps)
      : ssa_(ssa),
        program_(ssa.program()),
        counted_(program_.blocks.size(), false),
        value_(ssa.size(), false),
        flow_(ssa) {
    for (const SwapLoop& loop : swaps)
      for (const uint32_t b : loop.blocks) counted_[b] = true;
    flow_.run(*this);
  }
  bool operator[](uint32_t value) const { return value != ir::kNone && value_[value]; }

  void argument(uint32_t value) {
    for (const uint32_t input : ssa_.inputs(value)) taint(value, value_[input]);
  }
  void instruction(uint32_t block, uint32_t index) {
    const ir::Inst& inst = program_.blocks[block].insts[index];
    bool depends = counted_[block] || sees_others(inst) || (*this)[ssa_.guard(block, index)] ||
                   (inst.op == Op::load && kept_ && own_memory(inst));
    for (size_t s = 0; s < inst.src.size(); ++s)
      depends = depends || (*this)[ssa_.use(block, index, s)];
    if (depends && inst.op == Op::store && own_memory(inst) && !kept_) {
      kept_ = true;
      for (const uint32_t b : ssa_.order().nodes) flow_.touch_block(b);
    }
    for (size_t d = 0; d < inst.dst.size(); ++d) {
      if (!inst.dst[d].valid()) continue;
      const uint32_t value = ssa_.defined(block, index, d);
      taint(value, depends);
      for (const uint32_t input : ssa_.inputs(value)) taint(value, value_[input]);
    }
  }
  void leave(uint32_t block) { flow_.reach_all(block); }

 private:
  void taint(uint32_t value, bool depends) {
    if (!depends || value_[value]) return;
    value_[value] = true;
    flow_.changed(value);
  }

  const ir::Ssa& ssa_;
  const ir::Program& program_;
  std::vector<bool> counted_;  ///< [block]
  std::vector<bool> value_;
  bool kept_ = false;  ///< some of it lies in the lane's own memory
  ir::Dataflow flow_;
};

/// For each block those that it can be reached from again, itself among them; empty where it cannot
/// be.
class Cycles {
 public:
  explicit Cycles(const ir::Graph& graph) : of_(graph.size(), ir::kNone) {
    for (std::vector<uint32_t>& c : ir::Components(graph).of(ir::reverse_postorder(graph).nodes)) {
      const auto& succs = graph.succs[c[0]];
      if (c.size() == 1 && std::ranges::find(succs, c[0]) == succs.end()) continue;
      std::ranges::sort(c);
      for (const uint32_t b : c) of_[b] = static_cast<uint32_t>(blocks_.size());
      blocks_.push_back(std::move(c));
    }
  }
  const std::vector<uint32_t>& around(uint32_t block) const {
    static const std::vector<uint32_t> none;
    return of_[block] == ir::kNone ? none : blocks_[of_[block]];
  }

 private:
  std::vector<uint32_t> of_;
  std::vector<std::vector<uint32_t>> blocks_;
};

/// What can only change because a lane of the same group writes it, if memory of the group changes.
bool in_group_memory(const ir::Inst& inst) {
  return inst.mem->space == ir::Space::shared || inst.mem->space == ir::Space::generic;
}

/// Sums to which each iteration adds: counters that hand out work, and no lane waits for its own.
bool counts_up(const ir::Inst& inst) {
  return inst.op == Op::atom && inst.mem->atom == ir::AtomOp::add && inst.src.size() > 1 &&
         inst.src[1].is_imm() && inst.src[1].imm != 0;
}

/// Back edges of loops that wait, as targets of their branches.
class BackEdges {
 public:
  explicit BackEdges(const ir::Ssa& ssa) : ssa_(ssa), waiting_(ssa) {
    if (!ir::reducible(ssa.graph(), ssa.order(), ssa.dom())) return;
    loops_ = ir::loops(ssa.graph(), ssa.order(), ssa.dom());
    std::set<uint32_t> headers;
    for (const uint32_t b : ssa.order().nodes) {
      if (!waiting_.depends(b) || waiting_.swaps(b)) continue;
      for (uint32_t h = loops_.header[b]; h != ir::kNone; h = loops_.parent[h])
        if (leaves(b, h) && looks(h)) headers.insert(h);
    }
    for (const uint32_t h : headers)
      for (const uint32_t latch : ssa.graph().preds[h])
        if (ssa.order().reachable(latch) && ssa.dom().dominates(h, latch)) found.insert({latch, h});
  }

  std::set<std::pair<uint32_t, uint32_t>> found;  ///< from, to

 private:
  bool leaves(uint32_t block, uint32_t header) const {
    const auto& succs = ssa_.graph().succs[block];
    return std::ranges::any_of(succs, [&](uint32_t to) { return !loops_.contains(header, to); });
  }
  bool looks(uint32_t header) const {
    for (const uint32_t b : ssa_.order().nodes)
      if (loops_.contains(header, b))
        for (const ir::Inst& inst : ssa_.program().blocks[b].insts)
          if (sees_others(inst) && in_group_memory(inst) && !counts_up(inst)) return true;
    return false;
  }

  const ir::Ssa& ssa_;
  WaitingLoops waiting_;
  ir::Loops loops_;
};

ir::Inst yield_at(const ir::Terminator& term, uint32_t to) {
  const ir::Operand none = ir::Operand::immediate(0);
  ir::Inst yield = ir::instruction(Op::barrier, ir::Type::none, {}, {none, none}, term.site);
  yield.mode = static_cast<uint8_t>(ir::BarrierKind::yield);
  const bool one = term.kind != ir::Terminator::Kind::branch || term.targets[0] == term.targets[1];
  if (one) return yield;
  yield.guard = term.cond;
  if (term.targets[0] != to) yield.guard.negate = !yield.guard.negate;
  return yield;
}

}  // namespace

struct WaitingLoops::Facts {
  Facts(const ir::Ssa& ssa, const std::vector<SwapLoop>& loops)
      : swaps(loops), cycles(ssa.graph()), tainted(ssa, loops) {}
  std::vector<SwapLoop> swaps;
  Cycles cycles;
  Tainted tainted;
  std::vector<bool> swapping;  ///< [block]
};

WaitingLoops::WaitingLoops(const ir::Ssa& ssa)
    : ssa_(ssa), facts_(std::make_unique<Facts>(ssa, swap_loops(ssa.program()))) {
  facts_->swapping.resize(ssa.program().blocks.size());
  for (const SwapLoop& loop : facts_->swaps) {
    // In another loop, the path on must not depend on it.
    const bool outermost = facts_->cycles.around(loop.blocks[0]).size() == loop.blocks.size();
    for (const uint32_t b : loop.blocks)
      facts_->swapping[b] = outermost || loop.leads_to != ir::kNone;
  }
}
WaitingLoops::~WaitingLoops() = default;

bool WaitingLoops::depends(uint32_t block) const {
  return facts_->tainted[ssa_.deciding(block)];
}
bool WaitingLoops::swaps(uint32_t block) const {
  return facts_->swapping[block];
}

const ir::Inst* WaitingLoops::looks_at(uint32_t block) const {
  if (swaps(block) || !depends(block)) return nullptr;
  for (const uint32_t k : facts_->cycles.around(block))
    for (const ir::Inst& inst : ssa_.program().blocks[k].insts)
      if (sees_others(inst)) return &inst;
  return nullptr;
}

bool yield_in_waits(ir::Program& program) {
  const bool any = ir::any_inst(program, [](const ir::Inst& inst) {
    return inst.mem && sees_others(inst) && in_group_memory(inst) && !counts_up(inst);
  });
  if (!any) return false;
  const ir::Ssa ssa(program);
  const auto edges = BackEdges(ssa).found;
  for (const auto& [from, to] : edges) {
    ir::Block& block = program.blocks[from];
    block.insts.push_back(yield_at(block.term, to));
  }
  return !edges.empty();
}

}  // namespace lanewise::spirv
