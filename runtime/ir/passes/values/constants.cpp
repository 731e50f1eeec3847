#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/values/numbers.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

LaunchNumbers launch_of(const PassOptions& options) {
  LaunchNumbers launch;
  if (options.block) launch.block = {(*options.block)[0], (*options.block)[1], (*options.block)[2]};
  return launch;
}

class Constants {
 public:
  Constants(Program& p, const PassOptions& options) : p_(p), numbers_(p, launch_of(options)) {}

  bool run() {
    const bool flow = flow_is_free(p_);
    for (block_ = 0; block_ < p_.blocks.size(); ++block_) {
      if (!numbers_.reached(block_)) continue;
      Block& block = p_.blocks[block_];
      const uint32_t decides = ssa().deciding(block_);
      std::vector<Inst> kept;
      kept.reserve(block.insts.size());
      for (inst_ = 0; inst_ < block.insts.size(); ++inst_) {
        Inst& i = block.insts[inst_];
        const uint32_t guard = i.guard.always() ? kNone : ssa().guard(block_, inst_);
        const bool folds = foldable(i);
        std::vector<uint32_t> made;
        for (size_t d = 0; folds && d < i.dst.size(); ++d) made.push_back(result(i, d));
        substitute(i);
        if (!decide(i.guard, guard)) continue;
        if (!folds || !fold(i, made, kept)) kept.push_back(std::move(i));
      }
      block.insts = std::move(kept);
      if (flow) substitute(block.term, decides);
    }
    return changed_;
  }

 private:
  const Ssa& ssa() const { return numbers_.ssa(); }
  std::optional<uint64_t> known(uint32_t value) const {
    return value == kNone ? std::nullopt : numbers_.of(value).constant();
  }
  /// The value that the destination gets where the guard holds.
  uint32_t result(const Inst& i, size_t d) const {
    const uint32_t value = ssa().defined(block_, inst_, d);
    return i.guard.always() ? value : ssa().inputs(value)[0];
  }

  /// False when the instruction is never carried out.
  bool decide(Guard& g, uint32_t guard) {
    const auto bits = known(guard);
    if (!bits) return true;
    changed_ = true;
    const bool holds = (*bits != 0) != g.negate;
    g = Guard{};
    return holds;
  }

  void substitute(Operand& o, uint32_t value) {
    const auto bits = known(value);
    if (!bits) return;
    o = Operand::immediate(*bits);
    changed_ = true;
  }

  void substitute(Inst& i) {
    const bool mem = info(i.op).trait == OpTrait::mem;
    for (size_t s = 0; s < i.src.size(); ++s) {
      if (i.op == Op::readlane && s == 0) continue;  // names a register, of another lane
      if (mem && s == 0) {
        substitute_address(i);
      } else {
        substitute(i.src[s], ssa().use(block_, inst_, s));
      }
    }
    if (i.mem) substitute(i.mem->cache.hint, ssa().hint(block_, inst_));
  }

  /// The width of an address is that of its register, and a number has none: the offset, which
  /// wraps at that width, joins it.
  void substitute_address(Inst& i) {
    if (!i.src[0].is_reg()) return;
    const bool narrow = p_.regs[i.src[0].index].width != Width::b64;
    substitute(i.src[0], ssa().use(block_, inst_, 0));
    if (!narrow || !i.src[0].is_imm()) return;
    i.src[0].imm = (i.src[0].imm + static_cast<uint64_t>(i.mem->offset)) & 0xffffffff;
    i.mem->offset = 0;
  }

  static bool foldable(const Inst& i) {
    return !i.dst.empty() && info(i.op).trait == OpTrait::pure && i.op != Op::mov;
  }

  /// Moves of the results instead of the instruction.
  bool fold(const Inst& i, const std::vector<uint32_t>& made, std::vector<Inst>& to) {
    for (const uint32_t value : made)
      if (!known(value)) return false;
    for (size_t d = 0; d < i.dst.size(); ++d)
      to.push_back(
          move_at(i, p_.regs[i.dst[d].id].width, i.dst[d], Operand::immediate(*known(made[d]))));
    return changed_ = true;
  }

  void substitute(Terminator& t, uint32_t decides) {
    const auto bits = t.kind == Terminator::Kind::switch_ && t.selector.is_imm() ? t.selector.imm
                                                                                 : known(decides);
    if (!bits) return;
    uint32_t target = t.targets[0];
    if (t.kind == Terminator::Kind::branch) {
      target = t.targets[(*bits != 0) != t.cond.negate ? 0 : 1];
    } else {
      const auto hit = std::find(t.cases.begin(), t.cases.end(), *bits);
      target = t.targets[static_cast<size_t>(hit - t.cases.begin())];
    }
    t = jump_to(target, t.site);
    changed_ = true;
  }

  Program& p_;
  Numbers numbers_;
  uint32_t block_ = 0;
  size_t inst_ = 0;
  bool changed_ = false;
};

}  // namespace

bool propagate_constants(Program& program, const PassOptions& options) {
  return Constants(program, options).run();
}

}  // namespace lanewise::ir
