#include <algorithm>

#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/ssa.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

bool is_self_move(const Inst& i) {
  return is_plain_move(i) && i.src[0] == Operand(i.dst[0]);
}

/// Instructions whose results reach no effect: takes whole circles of them, and what is written
/// over before anybody reads it, in time linear in the program.
class Unneeded {
 public:
  explicit Unneeded(Program& p) : p_(p), ssa_(p), needed_(ssa_.size()) {}

  bool run() {
    const std::vector<bool> by_others = read_by_others(p_);
    for (uint32_t v = 0; v < ssa_.size(); ++v)
      if (by_others[ssa_[v].reg]) need(v);
    for (const uint32_t b : ssa_.order().nodes) {
      for (size_t i = 0; i < p_.blocks[b].insts.size(); ++i)
        if (!removable(p_, p_.blocks[b].insts[i])) need_sources(b, i, true);
      need(ssa_.deciding(b));
    }
    while (!work_.empty()) {
      const uint32_t value = work_.back();
      work_.pop_back();
      const Ssa::Value& v = ssa_[value];
      for (const uint32_t input : ssa_.inputs(value)) need(input);
      const bool merged = v.kind == Ssa::Kind::merge;
      if (merged || v.kind == Ssa::Kind::result) need_sources(v.block, v.inst, merged);
    }
    return sweep();
  }

 private:
  void need(uint32_t value) {
    if (value == kNone || needed_[value]) return;
    needed_[value] = true;
    work_.push_back(value);
  }
  void need_sources(uint32_t b, size_t i, bool guard) {
    for (size_t s = 0; s < p_.blocks[b].insts[i].src.size(); ++s) need(ssa_.use(b, i, s));
    need(ssa_.hint(b, i));
    if (guard) need(ssa_.guard(b, i));
  }

  bool sweep() {
    bool changed = false;
    for (const uint32_t b : ssa_.order().nodes) {
      auto& insts = p_.blocks[b].insts;
      std::vector<bool> gone(insts.size());
      for (size_t i = 0; i < insts.size(); ++i) {
        bool read = false;
        for (size_t d = 0; d < insts[i].dst.size(); ++d)
          read = read || (insts[i].dst[d].valid() && needed_[ssa_.defined(b, i, d)]);
        gone[i] = removable(p_, insts[i]) && (!read || is_self_move(insts[i]));
        if (!gone[i]) changed = drop_carry(b, i) || changed;
      }
      size_t n = 0;
      changed = std::erase_if(insts, [&](const Inst&) { return gone[n++]; }) != 0 || changed;
    }
    return changed;
  }

  /// A sum without carries is a plain one.
  bool drop_carry(uint32_t b, size_t n) {
    Inst& i = p_.blocks[b].insts[n];
    if ((i.op != Op::addc && i.op != Op::subb) || i.src[2] != Operand::immediate(0)) return false;
    if (!i.dst[0].valid() || (i.dst[1].valid() && needed_[ssa_.defined(b, n, 1)])) return false;
    i.op = i.op == Op::addc ? Op::add : Op::sub;
    i.dst.pop_back();
    i.src.pop_back();
    return true;
  }

  Program& p_;
  Ssa ssa_;
  std::vector<bool> needed_;  ///< [value]
  std::vector<uint32_t> work_;
};

}  // namespace

bool removable(const Program& p, const Inst& i) {
  if (info(i.op).trait == OpTrait::pure || i.op == Op::async_note) return true;
  if (i.op != Op::load || i.mem->space != Space::param || i.event != 0) return false;
  if (!i.src[0].is_imm()) return false;
  const uint64_t address = (i.src[0].imm + static_cast<uint64_t>(i.mem->offset)) & 0xffffffff;
  const bool aligned =
      i.mem->align != AlignRule::trap || address % std::max(1U, i.mem->alignment()) == 0;
  return aligned && address + i.mem->bytes() <= p.param_bytes;
}

bool remove_dead(Program& program, const PassOptions&) {
  return Unneeded(program).run();
}

}  // namespace lanewise::ir
