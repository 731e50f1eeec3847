// Wave mode runs a wave in step over the structured tree, which is what operations without a member
// mask mean. What must be shown is that no barrier and no loop waits for lanes that stand
// elsewhere; operations that wait for their members are shown, or ask as they run
// (member_proof.hpp).
#include "runtime/spirv/waves/wave_proof.hpp"

#include <algorithm>
#include <vector>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/waves/uniformity.hpp"
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

/// A lane may wait in a loop for what another lane of its wave does elsewhere.
std::optional<Obstacle> waiting_loop(const ir::Program& program, const ir::Uniformity& u) {
  const Cycles cycles(u.ssa().graph());
  const std::vector<SwapLoop> swaps = swap_loops(program);
  const Tainted depends(u.ssa(), swaps);
  std::vector<bool> waits(program.blocks.size(), true);
  for (const SwapLoop& loop : swaps) {
    // In another loop, the path on must not depend on it.
    const bool outermost = cycles.around(loop.blocks[0]).size() == loop.blocks.size();
    for (const uint32_t b : loop.blocks) waits[b] = !outermost && loop.leads_to == ir::kNone;
  }
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (!waits[b] || !depends[u.ssa().deciding(b)] || u.decides(b)) continue;
    // What a lane waits for, it looks at while it iterates.
    for (const uint32_t k : cycles.around(b)) {
      for (const ir::Inst& inst : program.blocks[k].insts)
        if (sees_others(inst))
          return Obstacle{&inst, "a loop may wait here for another lane of the wave"};
    }
  }
  return {};
}

}  // namespace

bool is_plain_barrier(const ir::Inst& inst, uint32_t lanes) {
  if (!inst.guard.always()) return false;
  if (static_cast<ir::BarrierKind>(inst.mode) == ir::BarrierKind::arrive) return false;
  const auto constant = [&](size_t i) { return i >= inst.src.size() || inst.src[i].is_imm(); };
  if (!constant(0) || !constant(1)) return false;
  const uint64_t id = inst.src.empty() ? 0 : inst.src[0].imm;
  const uint64_t count = inst.src.size() > 1 ? inst.src[1].imm : 0;
  return id < 16 && (count == 0 || count == lanes);
}

std::optional<Obstacle> obstacle_to_waves(const ir::Program& program, uint32_t lanes) {
  const bool barriers = ir::barriers_uniform(program);
  for (const ir::Block& block : program.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (inst.op != Op::barrier) continue;
      if (!is_plain_barrier(inst, lanes))
        return Obstacle{&inst, "it waits for a part of the block, or is not always reached"};
      if (!barriers) return Obstacle{&inst, "not all lanes are known to reach it together"};
    }
  }
  // GCN runs waves in step itself: a lane that waited for another one would wait there, too.
  if (program.isa == ir::Isa::gcn) return {};
  return waiting_loop(program, ir::Uniformity(program, ir::Together::wave));
}

}  // namespace lanewise::spirv
