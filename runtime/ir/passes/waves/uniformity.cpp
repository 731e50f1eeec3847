#include "runtime/ir/passes/waves/uniformity.hpp"

#include <algorithm>

#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::ir {
namespace {

bool same_for_the_group(SReg s) {
  static constexpr EnumSet<SReg> kShared{SReg::ntid_x,
                                         SReg::ntid_y,
                                         SReg::ntid_z,
                                         SReg::ctaid_x,
                                         SReg::ctaid_y,
                                         SReg::ctaid_z,
                                         SReg::nctaid_x,
                                         SReg::nctaid_y,
                                         SReg::nctaid_z,
                                         SReg::nwarpid,
                                         SReg::nsmid,
                                         SReg::gridid,
                                         SReg::dynamic_smem_size,
                                         SReg::total_smem_size,
                                         SReg::param_base,
                                         SReg::shared_window,
                                         SReg::local_window,
                                         SReg::written_map};
  return kShared.has(s);
}

/// What lanes of a wave find out together, all of them that are there.
bool same_for_the_wave(Op op) {
  static constexpr EnumSet<Op> kTogether{Op::ballot,     Op::vote_any,    Op::vote_all,
                                         Op::vote_uni,   Op::vote_ballot, Op::redux,
                                         Op::activemask, Op::readfirst};
  return kTogether.has(op);
}

}  // namespace

std::vector<bool> may_end(const Program& p) {
  std::vector<bool> ends;
  for (const Block& block : p.blocks)
    ends.push_back(
        std::ranges::any_of(block.insts, [](const Inst& i) { return i.op == Op::trap; }));
  return ends;
}

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

/// Starts from "everything is uniform" and takes back what cannot be upheld.
Uniformity::Uniformity(const Program& program, Together together, Follow follow)
    : p_(program),
      together_(together),
      numbers_(follow == Follow::masks
                   ? std::optional<Numbers>(std::in_place, program, LaunchNumbers{},
                                            Ssa::Split::at_joins)
                   : std::nullopt),
      own_(numbers_ ? std::nullopt : std::optional<Ssa>(program)),
      ssa_(numbers_ ? numbers_->ssa() : *own_),
      flow_(ssa_),
      postdom_(postdominators(ssa_.graph(), may_end(program))),
      block_(program.blocks.size(), true),
      split_(program.blocks.size()),
      value_(ssa_.size(), true),
      zeros_(ssa_.size(), numbers_.has_value()) {
  // What a register holds before its first write is not known here.
  for (uint32_t v = 0; v < ssa_.size(); ++v)
    if (ssa_[v].kind == Ssa::Kind::entry) value_[v] = scalar(v), zeros_[v] = false;
  flow_.run(*this);
}

bool Uniformity::scalar(uint32_t value) const {
  return together_ == Together::wave && p_.regs[ssa_[value].reg].scalar;
}

std::vector<bool> Uniformity::registers() const {
  std::vector<bool> all(p_.regs.size(), true);
  for (uint32_t v = 0; v < ssa_.size(); ++v)
    if (!value_[v]) all[ssa_[v].reg] = false;
  return all;
}

bool Uniformity::uniform(uint32_t block, uint32_t inst) const {
  const Inst& i = p_.blocks[block].insts[inst];
  if (!guard(block, inst)) return false;
  // A reduction gives all lanes one result whatever each of them puts in.
  if (together_ == Together::wave && same_for_the_wave(i.op)) {
    const int members = member_operand(i.op);
    return members < 0 || use(block, inst, static_cast<size_t>(members));
  }
  if (together_ == Together::wave && i.op == Op::readlane) return use(block, inst, 1);
  if (!keeps_uniform(i, together_)) return false;
  const size_t relevant = i.op == Op::barrier ? 2 : i.src.size();
  for (size_t s = 0; s < relevant; ++s)
    if (!use(block, inst, s)) return false;
  return true;
}

/// A ballot on what is the same in all lanes of the group names other lanes in a wave that is not
/// full, but is 0 in all waves or in none.
bool Uniformity::zero_together(uint32_t block, uint32_t inst) const {
  const Inst& i = p_.blocks[block].insts[inst];
  return uniform(block, inst) || (i.op == Op::ballot && i.guard.always() && use(block, inst, 0));
}
bool Uniformity::asks_for_zero(uint32_t block, uint32_t inst) const {
  const Inst& i = p_.blocks[block].insts[inst];
  return i.op == Op::icmp && (i.cond == Cond::eq || i.cond == Cond::ne) && i.guard.always() &&
         i.src[0].is_reg() && zeros_[ssa_.use(block, inst, 0)] && i.src[1] == Operand::immediate(0);
}

/// Paths that lanes take apart bring different values; one value stays what it was.
void Uniformity::argument(uint32_t value) {
  const auto inputs = ssa_.inputs(value);
  const auto incoming = ssa_.incoming(ssa_[value].block);
  bool same = true, uniform = true, zeros = true;
  for (size_t n = 0; n < inputs.size(); ++n) {
    const uint32_t from = incoming[n].from;
    uniform = uniform && value_[inputs[n]];
    zeros = zeros && zeros_[inputs[n]];
    if (from != kNone && split_[from]) same = false;
  }
  const bool alike = same || std::ranges::count(inputs, inputs[0]) == std::ssize(inputs);
  forget(value, uniform && alike, zeros && alike);
}

void Uniformity::instruction(uint32_t block, uint32_t inst) {
  const Inst& i = p_.blocks[block].insts[inst];
  if (i.op == Op::trap && !guard(block, inst)) split(block);
  if (i.dst.empty()) return;
  const bool alike = block_[block] && (uniform(block, inst) || asks_for_zero(block, inst));
  const bool zeros = block_[block] && zero_together(block, inst);
  for (size_t d = 0; d < i.dst.size(); ++d) {
    if (!i.dst[d].valid()) continue;
    const uint32_t value = ssa_.defined(block, inst, d);
    const bool merges = ssa_[value].kind == Ssa::Kind::merge;
    if (merges) forget(ssa_.inputs(value)[0], alike, zeros);
    const uint32_t before = merges ? ssa_.inputs(value)[1] : value;
    forget(value, alike && (!merges || value_[before]), zeros && (!merges || zeros_[before]));
  }
}

void Uniformity::leave(uint32_t block) {
  if (!block_[block] || !decides(block)) split(block);
  flow_.reach_all(block);
}

void Uniformity::forget(uint32_t value, bool uniform, bool zeros) {
  const bool constant = numbers_ && numbers_->of(value).constant();
  uniform = uniform || constant || scalar(value);
  zeros = zeros || constant;
  if (value_[value] <= uniform && zeros_[value] <= zeros) return;
  value_[value] = value_[value] && uniform;
  zeros_[value] = zeros_[value] && zeros;
  flow_.changed(value);
}

/// Lanes leave the block in different directions: whatever this decides about is divergent. Those
/// are the post-dominators of each successor up to where all ways from the block meet. What a loop
/// with divergent exits writes is caught as well: such an exit decides about the whole loop.
void Uniformity::split(uint32_t block) {
  if (split_[block]) return;
  split_[block] = true;
  flow_.touch_block(block);
  for (uint32_t s : ssa_.graph().succs[block])
    for (; s != postdom_.parent[block] && s < ssa_.graph().size(); s = postdom_.parent[s]) {
      if (!block_[s]) continue;
      block_[s] = false;
      flow_.touch_block(s);
    }
}

namespace {

/// Where lanes wait for each other.
bool is_convergence_point(const Inst& i) {
  return i.op == Op::barrier || info(i.op).trait == OpTrait::wave;
}

bool is_barrier(const Inst& i) {
  return i.op == Op::barrier;
}

using IsPoint = bool (*)(const Inst&);

/// No convergence point of the block is skipped by a lane that reached the block.
bool reached_by_all(const Program& p, uint32_t block, const Uniformity& u, IsPoint is_point) {
  bool all_lanes = true;
  const auto& insts = p.blocks[block].insts;
  for (size_t n = 0; n < insts.size(); ++n) {
    const bool together = u.guard(block, n);
    if (insts[n].op == Op::trap && !together) all_lanes = false;
    if (is_point(insts[n]) && !(together && all_lanes)) return false;
  }
  return true;
}

bool all_uniform(const Program& program, Together together, IsPoint is_point) {
  const auto has_point = [&](const Block& b) { return std::ranges::any_of(b.insts, is_point); };
  if (std::ranges::none_of(program.blocks, has_point)) return true;
  const auto proven = [&](Uniformity::Follow follow) {
    const Uniformity u(program, together, follow);
    return std::ranges::all_of(u.ssa().order().nodes, [&](uint32_t b) {
      return !has_point(program.blocks[b]) ||
             (u.block(b) && reached_by_all(program, b, u, is_point));
    });
  };
  return proven(Uniformity::Follow::values) || proven(Uniformity::Follow::masks);
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
  Program without = program;
  const Uniformity u(program, Together::group, Uniformity::Follow::masks);
  const std::vector<uint32_t> uses = uses_of(program);
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const auto& insts = program.blocks[b].insts;
    auto& kept = without.blocks[b].insts;
    kept.clear();
    for (size_t n = 0; n < insts.size(); ++n) {
      const bool any = n + 1 < insts.size() && asks_any(insts[n], insts[n + 1], uses);
      if (!any || !u.use(b, n, 0)) {
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

bool convergence_uniform(const Program& program) {
  return all_uniform(program, Together::group, is_convergence_point);
}
bool barriers_uniform(const Program& program, Together together) {
  return all_uniform(program, together, is_barrier);
}

}  // namespace lanewise::ir
