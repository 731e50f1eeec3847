#include "runtime/spirv/waves/member_proof.hpp"

#include <algorithm>
#include <vector>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/waves/wave_steps.hpp"
#include "runtime/ir/wave_ops.hpp"

namespace lanewise::spirv {
namespace members {

using ir::Op;

/// Which blocks the same lanes come to, in the same iterations.
class Company {
 public:
  Company(const ir::Program& program, const ir::Ssa& ssa)
      : program_(program),
        ssa_(ssa),
        graph_(ssa.graph()),
        dom_(ssa.dom()),
        ends_(ir::may_end(program)),
        postdom_(ir::postdominators(graph_, ends_)) {}

  /// The mask of the operation in `block` names exactly the lanes that come to it: it was taken of
  /// them.
  bool named_by(uint32_t mask, uint32_t block) const {
    const ir::Inst* inst = ssa_.made_by(mask);
    if (inst == nullptr || !inst->guard.always() || ends(block)) return false;
    const ir::Ssa::Value& made = ssa_[mask];
    if (inst->op == Op::activemask) return same(made.block, block);
    if (inst->op != Op::vote_ballot || inst->src[1] != ir::Operand::immediate(0xffffffff))
      return false;
    if (inst->src[0].is_imm()) return inst->src[0].imm != 0 && same(made.block, block);
    const uint32_t condition = ssa_.use(made.block, made.inst, 0);
    return condition != ir::kNone && chosen_by(condition, made.block, block);
  }

 private:
  bool ends(uint32_t block) const { return ends_[block]; }

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
  bool chosen_by(uint32_t condition, uint32_t from, uint32_t block) const {
    const ir::Inst* known = ssa_.made_by(condition);
    if (known == nullptr || !known->guard.always() || ssa_[condition].block != from || ends(from))
      return false;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      const ir::Terminator& t = program_.blocks[b].term;
      if (t.kind != ir::Terminator::Kind::branch || ssa_.deciding(b) != condition) continue;
      const uint32_t side = t.targets[t.cond.negate ? 1 : 0];
      if (graph_.preds[side].size() == 1 && t.targets[0] != t.targets[1] && same(from, b) &&
          same(side, block))
        return true;
    }
    return false;
  }

  const ir::Program& program_;
  const ir::Ssa& ssa_;
  const ir::Graph& graph_;
  const ir::DomTree& dom_;
  std::vector<bool> ends_;  ///< [block] some lane may
  ir::DomTree postdom_;
};

/// Do lanes that a tree in step has not brought to an operation come to one that waits, or do they
/// all end? What stands at a lower place has been run by then: the others have left the operation's
/// way at a branch that lanes decide apart.
class Absent {
 public:
  Absent(const ir::Program& program, const ir::Uniformity& u)
      : program_(program),
        ssa_(u.ssa()),
        graph_(ssa_.graph()),
        order_(ssa_.order()),
        dom_(ssa_.dom()),
        reducible_(ir::reducible(graph_, order_, dom_)) {
    if (reducible_) loops_ = ir::loops(graph_, order_, dom_);
    for (const ir::Block& block : program.blocks)
      waits_.push_back(std::ranges::any_of(block.insts, [&](const ir::Inst& i) {
        return i.op == Op::barrier || ir::is_rendezvous(program, i.op);
      }));
    for (const uint32_t b : order_.nodes)
      if (!u.decides(b)) parting_.push_back(b);
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
      return before && loops_.contains(loops_.header[block], to);
    });
  }

  /// Is the mask brought anew in each iteration of the loop around the operation, from memory (what
  /// a recursion keeps of each call) or from other lanes?
  bool changes(uint32_t mask, uint32_t block) const {
    if (!reducible_ || loops_.header[block] == ir::kNone || mask == ir::kNone) return false;
    std::vector<bool> seen(ssa_.size());
    std::vector<uint32_t> work = {mask};
    while (!work.empty()) {
      const uint32_t value = work.back();
      work.pop_back();
      if (seen[value]) continue;
      seen[value] = true;
      const ir::Inst* made = ssa_.made_by(value);
      const bool brings = made != nullptr &&
                          (made->op == Op::load || ir::info(made->op).trait == ir::OpTrait::wave);
      if (brings && loops_.contains(loops_.header[block], ssa_[value].block)) return true;
      for (const uint32_t input : ssa_.inputs(value)) work.push_back(input);
    }
    return false;
  }

 private:
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
      if (loops_.contains(h, a)) return true;
    return false;
  }

  /// The edge stays in a loop that is over when `block` runs.
  bool inside(uint32_t from, uint32_t to, uint32_t block) const {
    uint32_t outermost = ir::kNone;
    for (uint32_t h = loops_.header[from]; h != ir::kNone; h = loops_.parent[h])
      if (!loops_.contains(h, block)) outermost = h;
    return outermost != ir::kNone && loops_.contains(outermost, to);
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
  const ir::Ssa& ssa_;
  const ir::Graph& graph_;
  const ir::BlockOrder& order_;
  const ir::DomTree& dom_;
  bool reducible_;
  ir::Loops loops_;
  std::vector<bool> waits_, comes_;
  std::vector<uint32_t> parting_;  ///< blocks behind which lanes go different ways
};

}  // namespace members

struct MemberProof::Facts {
  Facts(const ir::Program& source, ir::Together together)
      : program(source), u(source, together), company(source, u.ssa()), absent(source, u) {}
  const ir::Program& program;
  ir::Uniformity u;
  members::Company company;
  members::Absent absent;
};

MemberProof::MemberProof(const ir::Program& program, ir::Together together) {
  const auto masked = [&](const ir::Inst& i) {
    const int operand = ir::member_operand(i.op);
    return operand >= 0 && (program.rendezvous || i.src[static_cast<size_t>(operand)].is_reg());
  };
  if (!ir::any_inst(program, masked)) return;
  facts_ = std::make_unique<Facts>(program, together);
}

MemberProof::~MemberProof() = default;

MemberUse MemberProof::of(uint32_t block, size_t index) const {
  if (facts_ == nullptr) return {};
  const ir::Inst& inst = facts_->program.blocks[block].insts[index];
  const int operand = ir::member_operand(inst.op);
  if (operand < 0) return {};
  if (inst.op == ir::Op::wave_sync && inst.mode == ir::kImpliedStep) return {};
  const ir::Operand& mask = inst.src[static_cast<size_t>(operand)];
  const uint32_t value = facts_->u.ssa().use(block, index, static_cast<size_t>(operand));
  const bool known = facts_->u.value(value);
  const bool named = inst.guard.always() && facts_->company.named_by(value, block);
  MemberUse use{.alike = known || named};
  if (!facts_->program.rendezvous || named) return use;
  const bool all_come = inst.guard.always() && facts_->u.block(block);
  use.asked = !known || (!all_come && facts_->absent.may_wait(inst, block));
  use.mixes =
      use.asked && mask != ir::Operand::immediate(~0U) &&
      (facts_->absent.skips_iterations(block) || (!known && facts_->absent.changes(value, block)));
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
