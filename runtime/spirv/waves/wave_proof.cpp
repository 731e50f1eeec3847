// Wave mode runs a wave in step over the structured tree, which is what operations without a member
// mask mean. What must be shown is that nothing waits for lanes that stand elsewhere.
#include "runtime/spirv/waves/wave_proof.hpp"

#include <algorithm>
#include <vector>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/wave_ops.hpp"
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

/// Registers that depend on what others do: on what they left in memory, and, written in a loop
/// around a compare-and-swap, on how often they got in between.
class Tainted {
 public:
  Tainted(const ir::Program& program, const std::vector<SwapLoop>& swaps)
      : reg_(program.regs.size(), false) {
    std::vector<bool> counted(program.blocks.size(), false);
    for (const SwapLoop& loop : swaps)
      for (const uint32_t b : loop.blocks) counted[b] = true;
    do {
      changed_ = false;
      for (uint32_t b = 0; b < program.blocks.size(); ++b)
        for (const ir::Inst& inst : program.blocks[b].insts) pass_on(inst, counted[b]);
    } while (changed_);
  }
  bool operator[](uint32_t reg) const { return reg_[reg]; }

 private:
  void pass_on(const ir::Inst& inst, bool counted) {
    const auto depends = [&](const ir::Operand& o) { return o.is_reg() && reg_[o.index]; };
    if (!counted && !sees_others(inst) && std::ranges::none_of(inst.src, depends) &&
        (inst.guard.always() || !reg_[inst.guard.reg.id]) &&
        (inst.op != Op::load || !kept_ || !own_memory(inst)))
      return;
    if (inst.op == Op::store && own_memory(inst) && !kept_) kept_ = changed_ = true;
    for (const ir::Reg dst : inst.dst) {
      if (!dst.valid() || reg_[dst.id]) continue;
      reg_[dst.id] = changed_ = true;
    }
  }

  std::vector<bool> reg_;
  bool kept_ = false;  ///< some of it lies in the lane's own memory
  bool changed_ = false;
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

/// The register that tells where a lane goes behind the block, kNone when none does.
uint32_t deciding(const ir::Terminator& t) {
  if (t.kind == ir::Terminator::Kind::branch && !t.cond.always()) return t.cond.reg.id;
  const bool chosen = t.kind == ir::Terminator::Kind::switch_ && t.selector.is_reg();
  return chosen ? t.selector.index : ir::kNone;
}

/// A lane may wait in a loop for what another lane of its wave does elsewhere.
std::optional<Obstacle> waiting_loop(const ir::Program& program, const ir::Uniformity& u) {
  const Cycles cycles(ir::block_graph(program));
  const std::vector<SwapLoop> swaps = swap_loops(program);
  const Tainted depends(program, swaps);
  std::vector<bool> waits(program.blocks.size(), true);
  for (const SwapLoop& loop : swaps) {
    // In another loop, the way on must not depend on it.
    const bool outermost = cycles.around(loop.blocks[0]).size() == loop.blocks.size();
    for (const uint32_t b : loop.blocks) waits[b] = !outermost && loop.leads_to == ir::kNone;
  }
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const uint32_t reg = deciding(program.blocks[b].term);
    if (!waits[b] || reg == ir::kNone || !depends[reg] || u.reg[reg]) continue;
    // What a lane waits for, it looks at while it goes round.
    for (const uint32_t k : cycles.around(b)) {
      for (const ir::Inst& inst : program.blocks[k].insts)
        if (sees_others(inst))
          return Obstacle{&inst, "a loop may wait here for another lane of the wave"};
    }
  }
  return {};
}

/// Which blocks the same lanes come to, in the same iterations.
class Company {
 public:
  explicit Company(const ir::Program& program)
      : program_(program),
        graph_(ir::block_graph(program)),
        dom_(ir::dominators(graph_)),
        postdom_(ir::postdominators(graph_, ending(program))),
        definitions_(program.regs.size()) {
    for (uint32_t b = 0; b < program.blocks.size(); ++b)
      for (const ir::Inst& inst : program.blocks[b].insts)
        for (const ir::Reg reg : inst.dst)
          if (reg.valid()) definitions_[reg.id].push_back({&inst, b});
  }

  /// The mask of the operation `use` in `block` names exactly the lanes that come to it: it was
  /// taken of them.
  bool named_by(const ir::Operand& mask, const ir::Inst& use, uint32_t block) const {
    if (!mask.is_reg() || definitions_[mask.index].size() != 1 || ends(block)) return false;
    const auto [inst, from] = definitions_[mask.index].front();
    if (!inst->guard.always() || (from == block && inst > &use)) return false;
    if (inst->op == Op::activemask) return same(from, block);
    if (inst->op != Op::vote_ballot || inst->src[1] != ir::Operand::immediate(0xffffffff))
      return false;
    if (inst->src[0].is_imm()) return inst->src[0].imm != 0 && same(from, block);
    return inst->src[0].is_reg() && chosen_by(inst->src[0].reg(), *inst, from, block);
  }

 private:
  struct Definition {
    const ir::Inst* inst;
    uint32_t block;
  };

  static bool has_trap(const ir::Block& block) {
    return std::ranges::any_of(block.insts,
                               [](const ir::Inst& inst) { return inst.op == Op::trap; });
  }
  bool ends(uint32_t block) const { return has_trap(program_.blocks[block]); }
  static std::vector<bool> ending(const ir::Program& program) {
    std::vector<bool> may_end;
    for (const ir::Block& block : program.blocks) may_end.push_back(has_trap(block));
    return may_end;
  }

  /// Each lane that comes to one comes to the other, once for each time.
  bool same(uint32_t first, uint32_t second) const {
    if (first == second) return true;
    return dom_.dominates(first, second) && postdom_.dominates(second, first) &&
           !turns_without(first, second) && !turns_without(second, first);
  }

  /// Can a lane come from `block` to it again past `other`?
  bool turns_without(uint32_t block, uint32_t other) const {
    std::vector<bool> seen(graph_.size(), false);
    std::vector<uint32_t> work = {block};
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t next : graph_.succs[at]) {
        if (next == block) return true;
        if (next == other || seen[next]) continue;
        seen[next] = true;
        work.push_back(next);
      }
    }
    return false;
  }

  /// `block` runs for the lanes for which `condition` held at the ballot in `from`, and for no
  /// others.
  bool chosen_by(ir::Reg condition, const ir::Inst& ballot, uint32_t from, uint32_t block) const {
    if (definitions_[condition.id].size() != 1 || ends(from)) return false;
    const Definition& known = definitions_[condition.id].front();
    if (known.block != from || known.inst > &ballot) return false;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      const ir::Terminator& t = program_.blocks[b].term;
      if (t.kind != ir::Terminator::Kind::branch || t.cond.reg != condition) continue;
      const uint32_t side = t.targets[t.cond.negate ? 1 : 0];
      if (graph_.preds[side].size() == 1 && t.targets[0] != t.targets[1] && same(from, b) &&
          same(side, block))
        return true;
    }
    return false;
  }

  const ir::Program& program_;
  ir::Graph graph_;
  ir::DomTree dom_, postdom_;
  std::vector<std::vector<Definition>> definitions_;
};

std::optional<Obstacle> mask_obstacle(const ir::Inst& inst, uint32_t block, const Company& company,
                                      const ir::Uniformity& u) {
  const int operand = ir::member_operand(inst.op);
  if (operand < 0) return {};
  const ir::Operand& mask = inst.src[static_cast<size_t>(operand)];
  if (mask == ir::Operand::immediate(0xffffffff)) return {};
  const bool known = !mask.is_reg() || u.reg[mask.index];
  if (inst.guard.always() && ((known && u.block[block]) || company.named_by(mask, inst, block)))
    return {};
  return Obstacle{&inst, "not all lanes of its member mask are known to reach it together"};
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
  const ir::Uniformity u = ir::uniformity(program, ir::Together::wave);
  const Company company(program);
  const bool barriers = ir::barriers_uniform(program);
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const ir::Inst& inst : program.blocks[b].insts) {
      if (inst.op == Op::barrier) {
        if (!is_plain_barrier(inst, lanes))
          return Obstacle{&inst, "it waits for a part of the block, or is not always reached"};
        if (!barriers) return Obstacle{&inst, "not all lanes are known to reach it together"};
      }
      if (ir::info(inst.op).trait != ir::OpTrait::wave) continue;
      if (auto found = mask_obstacle(inst, b, company, u)) return found;
    }
  }
  // GCN runs waves in step itself: a lane that waited for another one would wait there, too.
  if (program.isa == ir::Isa::gcn) return {};
  return waiting_loop(program, u);
}

}  // namespace lanewise::spirv
