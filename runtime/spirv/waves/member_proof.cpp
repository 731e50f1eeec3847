#include "runtime/spirv/waves/member_proof.hpp"

#include <algorithm>
#include <vector>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/wave_ops.hpp"

namespace lanewise::spirv {
namespace members {

using ir::Op;

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

/// Do lanes that a tree in step has not brought to an operation come to one that waits, or do they
/// all end? What stands at a lower place has been run by then: the others have left the operation's
/// way at a branch that lanes decide apart.
class Absent {
 public:
  Absent(const ir::Program& program, const ir::Uniformity& u)
      : program_(program),
        graph_(ir::block_graph(program)),
        order_(ir::reverse_postorder(graph_)),
        dom_(ir::dominators(graph_)),
        reducible_(ir::reducible(graph_, order_, dom_)) {
    if (reducible_) loops_ = ir::loops(graph_, order_, dom_);
    for (const ir::Block& block : program.blocks)
      waits_.push_back(std::ranges::any_of(block.insts, [&](const ir::Inst& i) {
        return i.op == Op::barrier || ir::is_rendezvous(program, i.op);
      }));
    for (const uint32_t b : order_.nodes) {
      const uint32_t reg = deciding(program.blocks[b].term);
      if (reg != ir::kNone && !u.reg[reg]) parting_.push_back(b);
    }
    find_coming();
  }

  /// May a lane that is not at the operation come to one that waits?
  bool may_wait(const ir::Inst& inst, uint32_t block) const {
    if (!reducible_) return true;
    if (!inst.guard.always() && waits_behind(inst, block)) return true;
    return skipped(block, [&](uint32_t to, bool) { return comes_[to]; });
  }

  /// May lanes skip it in one iteration and come to it in another one?
  bool skips_iterations(uint32_t block) const {
    if (!reducible_ || loops_.header[block] == ir::kNone) return false;
    return skipped(block, [&](uint32_t to, bool before) {
      return before && in_loop(to, loops_.header[block]);
    });
  }

  /// Is the mask brought anew in each iteration of the loop around the operation, from memory (what
  /// a recursion keeps of each call) or from other lanes?
  bool changes(const ir::Operand& mask, uint32_t block) const {
    if (!reducible_ || loops_.header[block] == ir::kNone || !mask.is_reg()) return false;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      if (!in_loop(b, loops_.header[block])) continue;
      for (const ir::Inst& i : program_.blocks[b].insts) {
        const bool brings = i.op == Op::load || ir::info(i.op).trait == ir::OpTrait::wave;
        if (brings && std::ranges::find(i.dst, mask.reg()) != i.dst.end()) return true;
      }
    }
    return false;
  }

 private:
  /// The register that says where a lane goes, kNone when none does.
  static uint32_t deciding(const ir::Terminator& t) {
    if (t.kind == ir::Terminator::Kind::branch && !t.cond.always()) return t.cond.reg.id;
    const bool chosen = t.kind == ir::Terminator::Kind::switch_ && t.selector.is_reg();
    return chosen ? t.selector.index : ir::kNone;
  }

  /// Some edge on which lanes part leads past `block`, to where `counts` holds: one in front of
  /// it, or the exit of a loop around it (who takes the loop's back edge behind it comes to it
  /// again with all that do).
  template <typename Counts>
  bool skipped(uint32_t block, Counts counts) const {
    const std::vector<bool> leads = leading_to(block);
    return std::ranges::any_of(parting_, [&](uint32_t branch) {
      const bool before = branch != block && leads[branch];
      if (!before && !share_loop(branch, block)) return false;
      return std::ranges::any_of(graph_.succs[branch], [&](uint32_t to) {
        if (inside(branch, to, block)) return false;
        const bool back = order_.index[to] <= order_.index[branch];
        if (back ? !before : leads[to]) return false;
        return counts(to, before);
      });
    });
  }
  bool share_loop(uint32_t a, uint32_t b) const {
    for (uint32_t h = loops_.header[b]; h != ir::kNone; h = loops_.parent[h])
      if (in_loop(a, h)) return true;
    return false;
  }

  /// The edge stays in a loop that is over when `block` runs.
  bool inside(uint32_t from, uint32_t to, uint32_t block) const {
    uint32_t outermost = ir::kNone;
    for (uint32_t h = loops_.header[from]; h != ir::kNone; h = loops_.parent[h])
      if (!in_loop(block, h)) outermost = h;
    return outermost != ir::kNone && in_loop(to, outermost);
  }
  bool in_loop(uint32_t block, uint32_t header) const {
    for (uint32_t h = loops_.header[block]; h != ir::kNone; h = loops_.parent[h])
      if (h == header) return true;
    return false;
  }

  bool waits_behind(const ir::Inst& inst, uint32_t block) const {
    const auto& insts = program_.blocks[block].insts;
    const bool later = std::any_of(
        insts.begin() + (&inst - insts.data()) + 1, insts.end(), [&](const ir::Inst& i) {
          return i.op == Op::barrier || ir::is_rendezvous(program_, i.op);
        });
    return later || std::ranges::any_of(graph_.succs[block], [&](uint32_t s) { return comes_[s]; });
  }

  /// Blocks from which some waiting operation can be reached.
  void find_coming() {
    comes_.assign(graph_.size(), false);
    std::vector<uint32_t> work;
    for (const uint32_t b : order_.nodes)
      if (waits_[b]) work.push_back(b);
    for (const uint32_t b : work) comes_[b] = true;
    spread(work, comes_, [](uint32_t, uint32_t) { return true; });
  }

  /// Blocks that lead to `block` without another iteration of a loop.
  std::vector<bool> leading_to(uint32_t block) const {
    std::vector<bool> leads(graph_.size(), false);
    leads[block] = true;
    spread({block}, leads,
           [&](uint32_t from, uint32_t to) { return order_.index[from] < order_.index[to]; });
    return leads;
  }

  template <typename Takes>
  void spread(std::vector<uint32_t> work, std::vector<bool>& found, Takes takes) const {
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t before : graph_.preds[at]) {
        if (found[before] || !order_.reachable(before) || !takes(before, at)) continue;
        found[before] = true;
        work.push_back(before);
      }
    }
  }

  const ir::Program& program_;
  ir::Graph graph_;
  ir::BlockOrder order_;
  ir::DomTree dom_;
  bool reducible_;
  ir::Loops loops_;
  std::vector<bool> waits_, comes_;
  std::vector<uint32_t> parting_;  ///< blocks behind which lanes go different ways
};

}  // namespace members

struct MemberProof::Facts {
  Facts(ir::Program apart, ir::Together together)
      : program(std::move(apart)),
        u(ir::uniformity(program, together)),
        company(program),
        absent(program, u) {}
  ir::Program program;
  ir::Uniformity u;
  members::Company company;
  members::Absent absent;
};

MemberProof::MemberProof(const ir::Program& program, ir::Together together) {
  const auto masked = [&](const ir::Inst& i) {
    const int operand = ir::member_operand(i.op);
    return operand >= 0 && (program.rendezvous || i.src[static_cast<size_t>(operand)].is_reg());
  };
  const auto some = [&](const ir::Block& b) { return std::ranges::any_of(b.insts, masked); };
  if (std::ranges::none_of(program.blocks, some)) return;
  // A register may hold something uniform here and something else there.
  ir::Program apart = program;
  (void)ir::split_webs(apart);
  facts_ = std::make_unique<Facts>(std::move(apart), together);
}

MemberProof::~MemberProof() = default;

MemberUse MemberProof::of(uint32_t block, size_t index) const {
  if (facts_ == nullptr) return {};
  const ir::Inst& inst = facts_->program.blocks[block].insts[index];
  const int operand = ir::member_operand(inst.op);
  if (operand < 0) return {};
  const ir::Operand& mask = inst.src[static_cast<size_t>(operand)];
  const bool known = !mask.is_reg() || facts_->u.reg[mask.index];
  const bool named = inst.guard.always() && facts_->company.named_by(mask, inst, block);
  MemberUse use{.alike = known || named};
  if (!facts_->program.rendezvous || named) return use;
  const bool all_come = inst.guard.always() && facts_->u.block[block];
  use.asked = !known || (!all_come && facts_->absent.may_wait(inst, block));
  use.mixes =
      use.asked && mask != ir::Operand::immediate(~0U) &&
      (facts_->absent.skips_iterations(block) || (!known && facts_->absent.changes(mask, block)));
  return use;
}

MemberSummary member_summary(const ir::Program& program) {
  MemberSummary summary;
  const MemberProof proof(program, ir::Together::wave);
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (size_t i = 0; i < program.blocks[b].insts.size(); ++i) {
      const MemberUse use = proof.of(b, i);
      summary.asking += use.asked ? 1 : 0;
      if (use.mixes && summary.mixes == nullptr) summary.mixes = &program.blocks[b].insts[i];
    }
  }
  return summary;
}

}  // namespace lanewise::spirv
