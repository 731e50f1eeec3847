#include <algorithm>

#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

Type bits_type(Width width) {
  return width == Width::pred ? Type::pred : width == Width::b64 ? Type::u64 : Type::u32;
}

/// What a special register holds in every launch of blocks of this size.
std::optional<uint64_t> launch_constant(const Inst& i, const PassOptions& options) {
  if (i.op != Op::sreg || !options.block) return std::nullopt;
  const auto& block = *options.block;
  switch (static_cast<SReg>(i.mode)) {
    case SReg::ntid_x:
      return block[0];
    case SReg::ntid_y:
      return block[1];
    case SReg::ntid_z:
      return block[2];
    case SReg::tid_x:
    case SReg::tid_y:
    case SReg::tid_z: {
      const auto axis = static_cast<size_t>(i.mode) - static_cast<size_t>(SReg::tid_x);
      if (block[axis] == 1) return 0;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

class Constants {
 public:
  Constants(Program& p, const PassOptions& options) : p_(p), options_(options), numbers_(p) {}

  bool run() {
    const bool flow = flow_is_free(p_);
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      std::vector<Inst> kept;
      kept.reserve(p_.blocks[b].insts.size());
      for (Inst& i : p_.blocks[b].insts) {
        if (!decide(i.guard)) continue;
        substitute(i);
        if (!fold(i, kept)) kept.push_back(std::move(i));
        // fold() has updated the numbers for what it put there.
        if (!folded_) numbers_.write_all(kept.back());
        folded_ = false;
      }
      p_.blocks[b].insts = std::move(kept);
      substitute(p_.blocks[b].term, flow);
    }
    return changed_;
  }

 private:
  std::optional<uint64_t> known(uint32_t reg) { return numbers_.constant(numbers_.of(reg)); }

  /// False when the instruction is never carried out.
  bool decide(Guard& g) {
    if (g.always()) return true;
    const auto bits = known(g.reg.id);
    if (!bits) return true;
    changed_ = true;
    const bool holds = (*bits != 0) != g.negate;
    g = Guard{};
    return holds;
  }

  void substitute(Operand& o) {
    if (!o.is_reg()) return;
    const auto bits = known(o.index);
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
        substitute(i.src[s]);
      }
    }
    if (i.mem) substitute(i.mem->cache.hint);
  }

  /// The width of an address is that of its register, and a number has none: the offset, which
  /// wraps at that width, joins it.
  void substitute_address(Inst& i) {
    if (!i.src[0].is_reg()) return;
    const bool narrow = p_.regs[i.src[0].index].width != Width::b64;
    substitute(i.src[0]);
    if (!narrow || !i.src[0].is_imm()) return;
    i.src[0].imm = (i.src[0].imm + static_cast<uint64_t>(i.mem->offset)) & 0xffffffff;
    i.mem->offset = 0;
  }

  /// Moves of the results instead of the instruction.
  bool fold(const Inst& i, std::vector<Inst>& to) {
    if (i.dst.empty() || info(i.op).trait != OpTrait::pure || i.op == Op::mov) return false;
    std::optional<std::array<uint64_t, 2>> results;
    if (const auto bits = launch_constant(i, options_)) {
      results = {*bits, 0};
    } else {
      std::vector<uint64_t> sources;
      for (const Operand& o : i.src) {
        if (!o.is_imm()) return false;
        sources.push_back(o.imm);
      }
      results = evaluate(i, sources);
    }
    if (!results) return false;
    for (size_t d = 0; d < i.dst.size(); ++d) {
      Inst move;
      move.op = Op::mov;
      move.type = bits_type(p_.regs[i.dst[d].id].width);
      move.guard = i.guard;
      move.site = i.site;
      move.dst = {i.dst[d]};
      move.src = {Operand::immediate((*results)[d])};
      numbers_.write_all(move);
      to.push_back(std::move(move));
    }
    folded_ = changed_ = true;
    return true;
  }

  void substitute(Terminator& t, bool flow) {
    if (!flow) return;
    uint32_t target = kNone;
    if (t.kind == Terminator::Kind::branch) {
      const auto bits = known(t.cond.reg.id);
      if (bits) target = t.targets[(*bits != 0) != t.cond.negate ? 0 : 1];
    } else if (t.kind == Terminator::Kind::switch_) {
      const auto bits = t.selector.is_imm()   ? std::optional(t.selector.imm)
                        : t.selector.is_reg() ? known(t.selector.index)
                                              : std::nullopt;
      if (bits) {
        const auto hit = std::find(t.cases.begin(), t.cases.end(), *bits);
        target = t.targets[static_cast<size_t>(hit - t.cases.begin())];
      }
    }
    if (target == kNone) return;
    Terminator jump;
    jump.kind = Terminator::Kind::jump;
    jump.targets = {target};
    jump.site = t.site;
    t = std::move(jump);
    changed_ = true;
  }

  Program& p_;
  const PassOptions& options_;
  Numbering numbers_;
  bool changed_ = false, folded_ = false;
};

}  // namespace

bool propagate_constants(Program& program, const PassOptions& options) {
  return Constants(program, options).run();
}

}  // namespace lanewise::ir
