#include <algorithm>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/wave_ops.hpp"

namespace lanewise::ir {
namespace {

bool same_for_the_group(SReg s) {
  switch (s) {
    case SReg::ntid_x:
    case SReg::ntid_y:
    case SReg::ntid_z:
    case SReg::ctaid_x:
    case SReg::ctaid_y:
    case SReg::ctaid_z:
    case SReg::nctaid_x:
    case SReg::nctaid_y:
    case SReg::nctaid_z:
    case SReg::nwarpid:
    case SReg::nsmid:
    case SReg::gridid:
    case SReg::dynamic_smem_size:
    case SReg::total_smem_size:
    case SReg::param_base:
    case SReg::shared_window:
    case SReg::local_window:
    case SReg::written_map:
      return true;
    default:
      return false;
  }
}

/// What lanes of a wave find out together, all of them that are there.
bool same_for_the_wave(Op op) {
  switch (op) {
    case Op::ballot:
    case Op::vote_any:
    case Op::vote_all:
    case Op::vote_uni:
    case Op::vote_ballot:
    case Op::redux:
    case Op::activemask:
    case Op::readfirst:
      return true;
    default:
      return false;
  }
}

/// Equal operands in all lanes give equal results in all lanes.
bool keeps_uniform(const Inst& i, Together together) {
  switch (i.op) {
    case Op::sreg:
      return same_for_the_group(static_cast<SReg>(i.mode)) ||
             (together == Together::wave && static_cast<SReg>(i.mode) == SReg::warpid);
    case Op::maskbit:
    case Op::mbcnt:
    case Op::buffer_address:  // a descriptor may add the lane's number
      return false;
    case Op::load:
      return i.mem->space == Space::param || i.mem->space == Space::constant;
    case Op::check:
      return true;
    case Op::barrier:  // a reduction over the whole group
      return i.src[1] == Operand::immediate(0);
    case Op::readlane:
      return together == Together::wave;
    default:
      return info(i.op).trait == OpTrait::pure;
  }
}

/// Predicates that hold in every lane: GCN's EXEC where a kernel begins, and wherever it has its
/// lanes back. Starts from all of them, too.
std::vector<bool> always_true(const Program& p) {
  std::vector<bool> holds = liveness(p).in[0];
  holds.flip();
  const auto is_true = [&](const Operand& o) { return o.is_imm() ? o.imm != 0 : holds[o.index]; };
  const auto makes_true = [&](const Inst& i) {
    if (i.op == Op::mov && i.type == Type::pred) return is_true(i.src[0]);
    if (i.op == Op::or_ && i.type == Type::pred) return is_true(i.src[0]) || is_true(i.src[1]);
    if (i.op == Op::and_ && i.type == Type::pred) return is_true(i.src[0]) && is_true(i.src[1]);
    return i.op == Op::maskbit && i.src[0] == Operand::immediate(~uint64_t{0});
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block& block : p.blocks)
      for (const Inst& i : block.insts)
        for (const Reg r : i.dst) {
          if (!r.valid() || !holds[r.id] || makes_true(i)) continue;
          holds[r.id] = false;
          changed = true;
        }
  }
  return holds;
}

/// Starts from "everything is uniform" and takes back what cannot be upheld, until nothing changes.
class UniformityAnalysis {
 public:
  /// `closely`: values have registers of their own, so that it is worth while to follow masks.
  UniformityAnalysis(const Program& p, Together together, bool closely = false)
      : p_(p),
        together_(together),
        graph_(block_graph(p)),
        order_(reverse_postorder(graph_)),
        may_end_(p.blocks.size()),
        split_(p.blocks.size()) {
    for (uint32_t b = 0; b < p.blocks.size(); ++b) {
      const auto traps = [](const Inst& i) { return i.op == Op::trap; };
      const auto& insts = p.blocks[b].insts;
      may_end_[b] = std::any_of(insts.begin(), insts.end(), traps);
    }
    postdom_ = postdominators(graph_, may_end_);
    result_.block.assign(p.blocks.size(), true);
    // What a register holds before its first write is not known here.
    const std::vector<bool> unset = liveness(p).in[0];
    result_.reg.assign(p.regs.size(), true);
    for (size_t r = 0; r < p.regs.size(); ++r) result_.reg[r] = !unset[r] || scalar(r);
    if (!closely) return;
    true_ = always_true(p);
    zeros_ = unset;
    zeros_.flip();
  }

  Uniformity run() {
    do {
      changed_ = false;
      for (const uint32_t b : order_.nodes) visit(b);
    } while (changed_);
    return std::move(result_);
  }

 private:
  bool scalar(size_t reg) const { return together_ == Together::wave && p_.regs[reg].scalar; }
  bool uniform(const Operand& o) const { return !o.is_reg() || result_.reg[o.index]; }
  bool uniform(const Guard& g) const { return g.always() || result_.reg[g.reg.id]; }

  bool uniform(const Inst& i) const {
    // A reduction gives all lanes one result whatever each of them puts in.
    if (together_ == Together::wave && same_for_the_wave(i.op)) {
      const int members = member_operand(i.op);
      return uniform(i.guard) && (members < 0 || uniform(i.src[static_cast<size_t>(members)]));
    }
    if (together_ == Together::wave && i.op == Op::readlane)
      return uniform(i.guard) && uniform(i.src[1]);
    // Of all ones, and of none, it is the same for everybody.
    if (i.op == Op::maskbit && !zeros_.empty() && i.src[0].is_imm() && i.src[0].imm + 1 < 2)
      return uniform(i.guard);
    const size_t relevant = i.op == Op::barrier ? 2 : i.src.size();
    return keeps_uniform(i, together_) && uniform(i.guard) &&
           std::all_of(i.src.begin(), i.src.begin() + static_cast<ptrdiff_t>(relevant),
                       [&](const Operand& o) { return uniform(o); });
  }

  void visit(uint32_t b) {
    bool splits = !result_.block[b];
    for (const Inst& i : p_.blocks[b].insts) {
      if (i.op == Op::trap) splits = splits || !uniform(i.guard);
      if (!zeros_.empty()) follow_mask(i, result_.block[b]);
      if (result_.block[b] && (uniform(i) || asks_for_zero(i))) continue;
      for (const Reg r : i.dst)
        if (true_.empty() || !r.valid() || !true_[r.id]) forget(r);
    }
    const Terminator& t = p_.blocks[b].term;
    if (t.kind == Terminator::Kind::branch) splits = splits || !uniform(t.cond);
    if (t.kind == Terminator::Kind::switch_) splits = splits || !uniform(t.selector);
    if (splits && !split_[b]) split(b);
  }

  /// A ballot on what is the same in all lanes of the group names other lanes in a wave that is not
  /// full, but is 0 in all waves or in none.
  void follow_mask(const Inst& i, bool together) {
    const bool ballot = i.op == Op::ballot && i.guard.always() && uniform(i.src[0]);
    if (together && (ballot || uniform(i))) return;
    for (const Reg r : i.dst) {
      if (!r.valid() || !zeros_[r.id]) continue;
      zeros_[r.id] = false;
      changed_ = true;
    }
  }
  bool asks_for_zero(const Inst& i) const {
    return !zeros_.empty() && i.op == Op::icmp && (i.cond == Cond::eq || i.cond == Cond::ne) &&
           i.guard.always() && i.src[0].is_reg() && zeros_[i.src[0].index] &&
           i.src[1] == Operand::immediate(0);
  }

  void forget(Reg r) {
    if (!r.valid() || !result_.reg[r.id] || scalar(r.id)) return;
    result_.reg[r.id] = false;
    changed_ = true;
  }

  /// Lanes leave `b` in different directions: whatever this decides about is divergent. Those are
  /// the post-dominators of each successor up to where all ways from `b` meet. A register that a
  /// loop with divergent exits writes is caught as well: such an exit decides about the whole loop.
  void split(uint32_t b) {
    split_[b] = true;
    for (uint32_t s : graph_.succs[b]) {
      for (; s != postdom_.parent[b] && s < graph_.size(); s = postdom_.parent[s]) {
        if (!result_.block[s]) continue;
        result_.block[s] = false;
        changed_ = true;
      }
    }
  }

  const Program& p_;
  Together together_;
  Graph graph_;
  BlockOrder order_;
  std::vector<bool> may_end_, split_;
  std::vector<bool> true_, zeros_;  ///< of registers: always true; 0 in all lanes or in none
  DomTree postdom_;
  Uniformity result_;
  bool changed_ = false;
};

/// Where lanes wait for each other.
bool is_convergence_point(const Inst& i) {
  return i.op == Op::barrier || info(i.op).trait == OpTrait::wave;
}

bool is_barrier(const Inst& i) {
  return i.op == Op::barrier;
}

/// No convergence point of the block is skipped by a lane that reached the block.
bool reached_by_all(const Block& block, const Uniformity& u,
                    bool (*is_convergence_point)(const Inst&)) {
  bool all_lanes = true;
  for (const Inst& i : block.insts) {
    const bool together = i.guard.always() || u.reg[i.guard.reg.id];
    if (i.op == Op::trap && !together) all_lanes = false;
    if (is_convergence_point(i) && !(together && all_lanes)) return false;
  }
  return true;
}

bool registers_uniform(const Program& program, bool (*is_convergence_point)(const Inst&),
                       bool closely = false) {
  const Uniformity u = UniformityAnalysis(program, Together::group, closely).run();
  const BlockOrder order = reverse_postorder(block_graph(program));
  for (const uint32_t b : order.nodes) {
    const Block& block = program.blocks[b];
    if (std::none_of(block.insts.begin(), block.insts.end(), is_convergence_point)) continue;
    if (!u.block[b] || !reached_by_all(block, u, is_convergence_point)) return false;
  }
  return true;
}

/// Scalar registers and condition codes hold one thing here and another there: where they do not
/// suffice, their values are distinguished.
bool all_uniform(const Program& program, bool (*is_convergence_point)(const Inst&)) {
  if (registers_uniform(program, is_convergence_point)) return true;
  Program apart = program;
  return split_webs(apart) && registers_uniform(apart, is_convergence_point, true);
}

std::vector<uint32_t> uses_of(const Program& program) {
  std::vector<uint32_t> uses(program.regs.size(), 0);
  for (const Block& block : program.blocks) {
    for (const Inst& i : block.insts) for_each_use(i, [&](uint32_t r) { ++uses[r]; });
    if (block.term.kind == Terminator::Kind::branch && block.term.cond.always()) continue;
    for_each_use(block.term, [&](uint32_t r) { ++uses[r]; });
  }
  return uses;
}

/// A ballot that is only asked, right behind it, whether it is 0.
bool asks_any(const Inst& ballot, const Inst& asked, const std::vector<uint32_t>& uses) {
  return ballot.op == Op::ballot && ballot.guard.always() && asked.op == Op::icmp &&
         asked.guard.always() && (asked.cond == Cond::ne || asked.cond == Cond::eq) &&
         asked.src[0] == Operand(ballot.dst[0]) && asked.src[1] == Operand::immediate(0) &&
         uses[ballot.dst[0].id] == 1;
}

}  // namespace

bool drop_uniform_ballots(Program& program) {
  if (!has_wave_ops(program)) return false;
  Program apart = program, without = program;
  if (!split_webs(apart)) return false;
  const Uniformity u = UniformityAnalysis(apart, Together::group, true).run();
  const std::vector<uint32_t> uses = uses_of(program);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const auto& insts = program.blocks[b].insts;
    auto& kept = without.blocks[b].insts;
    kept.clear();
    for (size_t n = 0; n < insts.size(); ++n) {
      const bool any = n + 1 < insts.size() && asks_any(insts[n], insts[n + 1], uses);
      const Operand chosen =
          apart.blocks[b].insts[n].src.empty() ? Operand{} : apart.blocks[b].insts[n].src[0];
      if (!any || (chosen.is_reg() && !u.reg[chosen.index])) {
        kept.push_back(insts[n]);
        continue;
      }
      Inst own = insts[n + 1];
      own.op = own.cond == Cond::ne ? Op::mov : Op::not_;
      own.type = Type::pred;
      own.cond = {};
      own.src = {insts[n].src[0]};
      kept.push_back(std::move(own));
      ++n;
    }
  }
  if (has_wave_ops(without)) return false;
  program = std::move(without);
  return true;
}

Uniformity uniformity(const Program& program, Together together) {
  return UniformityAnalysis(program, together).run();
}

bool convergence_uniform(const Program& program) {
  return all_uniform(program, is_convergence_point);
}
bool barriers_uniform(const Program& program) {
  return all_uniform(program, is_barrier);
}

}  // namespace lanewise::ir
