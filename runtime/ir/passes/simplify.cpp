// Small clean-ups that hold for mutable registers. A register counts as a value when it has one
// definition in the whole program, without a guard; what a `mov` put into such a register can be
// used directly wherever the `mov` dominates.
#include <algorithm>

#include "runtime/ir/passes/cfg.hpp"
#include "runtime/ir/passes/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/simplify.hpp"
#include "runtime/ir/signature.hpp"

namespace lanewise::ir {
namespace {

struct Position {
  uint32_t block = kNone, index = 0;
};

/// Replaces uses of registers that hold a constant or a copy.
class CopyPropagation {
 public:
  explicit CopyPropagation(Program& p) : p_(p), dom_(dominators(block_graph(p))) {
    defs_.resize(p.regs.size());
    std::vector<uint32_t> writes(p.regs.size());
    for (uint32_t b = 0; b < p.blocks.size(); ++b) {
      for (uint32_t i = 0; i < p.blocks[b].insts.size(); ++i) {
        const Inst& inst = p.blocks[b].insts[i];
        for (const Reg r : inst.dst) {
          // A guarded write makes the old value count as well.
          writes[r.id] += inst.guard.always() ? 1 : 2;
          defs_[r.id] = {b, i};
        }
      }
    }
    for (size_t r = 0; r < p.regs.size(); ++r) {
      if (writes[r] != 1) defs_[r] = {};
    }
    find_sources();
  }

  bool run() {
    for (uint32_t b = 0; b < p_.blocks.size(); ++b) {
      if (dom_.enter[b] == kNone) continue;
      auto& insts = p_.blocks[b].insts;
      for (uint32_t i = 0; i < insts.size(); ++i) rewrite(insts[i], {b, i});
      std::erase_if(insts, [](const Inst& inst) {
        return inst.guard == Guard{Reg{}, true};  // marked by rewrite(): never executed
      });
      rewrite(p_.blocks[b].term, {b, kNone});
    }
    return changed_;
  }

 private:
  static bool is_plain_move(const Inst& i) {
    // Narrow types may cut bits off; those moves stay.
    return i.op == Op::mov && i.guard.always() && !i.ftz && !i.sat &&
           (i.type == Type::pred || size_of(i.type) >= 4);
  }

  void find_sources() {
    source_.resize(p_.regs.size());
    for (uint32_t r = 0; r < p_.regs.size(); ++r) {
      if (defs_[r].block == kNone) continue;
      const Inst& def = p_.blocks[defs_[r].block].insts[defs_[r].index];
      if (!is_plain_move(def)) continue;
      const Operand& from = def.src[0];
      const bool copy = from.is_reg() && defs_[from.index].block != kNone &&
                        p_.regs[from.index].scalar == p_.regs[r].scalar &&
                        dominates(defs_[from.index], defs_[r]);
      if (from.is_imm() || copy) source_[r] = from;
    }
  }

  bool dominates(Position def, Position use) const {
    if (def.block == use.block) return def.index < use.index;
    return dom_.dominates(def.block, use.block);
  }

  /// What may stand instead of register `r` at `use`; the register itself when nothing may.
  Operand resolve(uint32_t r, Position use) const {
    Operand best = Reg{r};
    while (best.is_reg() && source_[best.index].kind != Operand::Kind::none &&
           dominates(defs_[best.index], use)) {
      best = source_[best.index];
    }
    return best;
  }

  void replace(Operand& o, Position use, bool immediate_too = true) {
    if (!o.is_reg()) return;
    const Operand with = resolve(o.index, use);
    if (with == o || (with.is_imm() && !immediate_too)) return;
    o = with;
    changed_ = true;
  }

  /// The guard's value when it is known.
  std::optional<bool> decide(Guard& g, Position use) {
    if (g.always()) return std::nullopt;
    const Operand with = resolve(g.reg.id, use);
    if (with.is_imm()) return (with.imm != 0) != g.negate;
    changed_ = changed_ || !(with.reg() == g.reg);
    g.reg = with.reg();
    return std::nullopt;
  }

  void rewrite(Inst& i, Position at) {
    if (const auto known = decide(i.guard, at)) {
      i.guard = Guard{Reg{}, !*known};
      changed_ = true;
    }
    for (size_t s = 0; s < i.src.size(); ++s) {
      // The width of an address is that of its register; an immediate would lose it.
      const bool address = s == 0 && info(i.op).trait == OpTrait::mem && i.src[0].is_reg();
      const bool narrow = address && p_.regs[i.src[0].index].width != Width::b64;
      replace(i.src[s], at, !narrow);
    }
    if (i.mem) replace(i.mem->cache.hint, at);
  }

  void rewrite(Terminator& t, Position at) {
    if (t.kind == Terminator::Kind::branch) {
      const auto known = decide(t.cond, at);
      if (known) become_jump(t, t.targets[*known ? 0 : 1]);
    } else if (t.kind == Terminator::Kind::switch_) {
      replace(t.selector, at);
      if (!t.selector.is_imm()) return;
      const auto hit = std::find(t.cases.begin(), t.cases.end(), t.selector.imm);
      become_jump(t, t.targets[static_cast<size_t>(hit - t.cases.begin())]);
    }
  }

  void become_jump(Terminator& t, uint32_t target) {
    Terminator jump;
    jump.kind = Terminator::Kind::jump;
    jump.targets = {target};
    jump.site = t.site;
    t = std::move(jump);
    changed_ = true;
  }

  Program& p_;
  DomTree dom_;
  std::vector<Position> defs_;   ///< block kNone: not a value
  std::vector<Operand> source_;  ///< kind none: not a move
  bool changed_ = false;
};

bool is_self_move(const Inst& i) {
  return i.op == Op::mov && !i.sat && !i.ftz && i.src[0] == Operand(i.dst[0]);
}

/// Removes pure instructions whose results nobody reads.
bool remove_dead(Program& p) {
  bool changed = false;
  const Liveness l = liveness(p);
  for (size_t b = 0; b < p.blocks.size(); ++b) {
    Block& block = p.blocks[b];
    std::vector<bool> live = l.out[b];
    step_back(block.term, live);
    std::vector<Inst> kept;
    kept.reserve(block.insts.size());
    for (size_t i = block.insts.size(); i-- > 0;) {
      Inst& inst = block.insts[i];
      const bool pure = info(inst.op).trait == OpTrait::pure;
      const bool read =
          std::any_of(inst.dst.begin(), inst.dst.end(), [&](Reg r) { return live[r.id]; });
      if (pure && (!read || is_self_move(inst))) continue;
      step_back(inst, live);
      kept.push_back(std::move(inst));
    }
    changed = changed || kept.size() != block.insts.size();
    std::reverse(kept.begin(), kept.end());
    block.insts = std::move(kept);
  }
  return changed;
}

}  // namespace

void simplify(Program& program) {
  // Each round can only remove code; chains of dead code across blocks take a few rounds.
  constexpr int kMaxRounds = 8;
  for (int round = 0; round < kMaxRounds; ++round) {
    simplify_blocks(program);
    bool changed = CopyPropagation(program).run();
    if (changed) simplify_blocks(program);
    changed = remove_dead(program) || changed;
    if (!changed) return;
  }
  simplify_blocks(program);
}

}  // namespace lanewise::ir
