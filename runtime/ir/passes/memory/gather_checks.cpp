#include "runtime/ir/passes/memory/gather_checks.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

/// Addresses that are computed early stay in registers, and each check looks at what lies between.
constexpr size_t kMostChecks = 16, kMostBetween = 160;

bool is_plain_check(const Inst& inst) {
  return inst.op == Op::check && !has(inst, CheckMode::unwritten);
}

/// Parameters are what they are whenever they are read.
bool may_move(const Inst& inst) {
  const bool parameter = inst.op == Op::load && inst.mem->space == Space::param &&
                         inst.src[0].is_imm() && inst.src.back().is_imm() && inst.event == 0;
  return (info(inst.op).trait == OpTrait::pure || parameter) && inst.guard.always();
}

class Gathering {
 public:
  explicit Gathering(size_t registers) : needed_(registers), read_(registers), made_(registers) {}

  void run(Block& block) {
    std::vector<Inst> insts;
    insts.reserve(block.insts.size());
    size_t start = 0, checks = 0;  // of the row; no checks = there is none
    for (Inst& inst : block.insts) {
      const OpTrait trait = info(inst.op).trait;
      insts.push_back(std::move(inst));
      const Inst& now = insts.back();
      if (is_plain_check(now)) {
        const bool joins = checks != 0 && checks < kMostChecks &&
                           insts.size() - start <= kMostBetween && raise(insts, start, checks);
        if (!joins) {
          start = insts.size() - 1;
          checks = 0;
        }
        ++checks;
      } else if ((trait != OpTrait::pure && trait != OpTrait::mem) || now.op == Op::check ||
                 now.event != 0) {
        checks = 0;
      }
    }
    block.insts = std::move(insts);
  }

 private:
  template <typename Each>
  static void each_read(const Inst& inst, Each each) {
    for (const Operand& o : inst.src)
      if (o.is_reg()) each(o.index);
    if (!inst.guard.always()) each(inst.guard.reg.id);
  }
  template <typename Each>
  static void each_made(const Inst& inst, Each each) {
    for (const Reg reg : inst.dst)
      if (reg.valid()) each(reg.id);
  }

  /// Puts the last instruction behind the row and what it needs in front of it; false when they
  /// must stay. `start` is the row's first check afterwards, too.
  bool raise(std::vector<Inst>& insts, size_t& start, size_t checks) {
    const std::vector<bool> moves = slice(insts, start);
    if (moves.empty()) return false;
    std::vector<Inst> needed, row, rest;
    for (size_t i = start; i + 1 < insts.size(); ++i) {
      std::vector<Inst>& to = moves[i - start] ? needed : i < start + checks ? row : rest;
      to.push_back(std::move(insts[i]));
    }
    row.push_back(std::move(insts.back()));
    insts.resize(start);
    for (std::vector<Inst>* part : {&needed, &row, &rest})
      std::ranges::move(*part, std::back_inserter(insts));
    start += needed.size();
    return true;
  }

  /// Which instructions from `head` on the last one needs; empty when one of them must stay.
  std::vector<bool> slice(const std::vector<Inst>& insts, size_t head) {
    const size_t count = insts.size() - head;
    std::vector<bool> moves(count);
    ++round_;
    moves[count - 1] = true;
    each_read(insts.back(), [&](uint32_t r) { needed_[r] = round_; });
    for (size_t i = count - 1; i-- > 0;) {
      const Inst& inst = insts[head + i];
      bool wanted = false;
      each_made(inst, [&](uint32_t r) { wanted = wanted || needed_[r] == round_; });
      if (!wanted) continue;
      if (!may_move(inst)) return {};
      moves[i] = true;
      each_made(inst, [&](uint32_t r) { needed_[r] = 0; });
      each_read(inst, [&](uint32_t r) { needed_[r] = round_; });
    }
    // Nothing that moves may meet what it passes.
    for (size_t i = 0; i < count; ++i) {
      const Inst& inst = insts[head + i];
      bool meets = false;
      if (moves[i]) {
        each_read(inst, [&](uint32_t r) { meets = meets || made_[r] == round_; });
        each_made(inst,
                  [&](uint32_t r) { meets = meets || made_[r] == round_ || read_[r] == round_; });
      } else {
        each_read(inst, [&](uint32_t r) { read_[r] = round_; });
        each_made(inst, [&](uint32_t r) { made_[r] = round_; });
      }
      if (meets) return {};
    }
    return moves;
  }

  uint32_t round_ = 0;
  std::vector<uint32_t> needed_, read_, made_;  ///< by register: the round in which it was marked
};

}  // namespace

void gather_checks(Program& program) {
  Gathering gathering(program.regs.size());
  for (Block& block : program.blocks) gathering.run(block);
}

}  // namespace lanewise::ir
