// Wave mode runs a wave in step over the structured tree, which is what operations without a member
// mask mean. What must be shown is that no barrier and no loop waits for lanes that stand
// elsewhere; operations that wait for their members are shown, or ask as they run
// (member_proof.hpp).
#include "runtime/spirv/waves/wave_proof.hpp"

#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/waves/uniformity.hpp"
#include "runtime/ir/yield.hpp"
#include "runtime/spirv/waves/waiting_loops.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;

/// A lane may wait in a loop for what another lane of its wave does elsewhere.
std::optional<Obstacle> waiting_loop(const ir::Program& program, const ir::Uniformity& u) {
  const WaitingLoops loops(u.ssa());
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (u.decides(b)) continue;
    if (const ir::Inst* inst = loops.looks_at(b))
      return Obstacle{inst, "a loop may wait here for another lane of the wave"};
  }
  return {};
}

}  // namespace

bool is_plain_barrier(const ir::Inst& inst, uint32_t lanes) {
  if (!inst.guard.always() || !ir::is_waiting_barrier(inst)) return false;
  const auto constant = [&](size_t i) { return i >= inst.src.size() || inst.src[i].is_imm(); };
  if (!constant(0) || !constant(1)) return false;
  const uint64_t id = inst.src.empty() ? 0 : inst.src[0].imm;
  const uint64_t count = inst.src.size() > 1 ? inst.src[1].imm : 0;
  return id < 16 && (count == 0 || count == lanes);
}

std::optional<Obstacle> obstacle_to_waves(const ir::Program& program, uint32_t lanes) {
  const auto loop = [&] {
    return waiting_loop(program, ir::Uniformity(program, ir::Together::wave));
  };
  const ir::Inst* yield = nullptr;
  for (const ir::Block& block : program.blocks)
    for (const ir::Inst& inst : block.insts)
      if (ir::is_yield(inst)) yield = &inst;
  if (yield != nullptr) {
    const auto found = loop();
    return found ? found : Obstacle{yield, "a loop may wait here for another wave"};
  }
  // A group that is one wave waits for nobody else.
  const bool one_wave = lanes <= program.wave_lanes;
  const bool barriers =
      ir::barriers_uniform(program, one_wave ? ir::Together::wave : ir::Together::group);
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
  return loop();
}

}  // namespace lanewise::spirv
