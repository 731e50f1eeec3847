// Bit fields, shifts across words, three-input logic, votes and predicate logic.
#include "lanewise/types.hpp"
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

Operand inverted_source(LowerContext& c, const Instruction& i, Role role) {
  const Operand x = c.raw(i, role);
  return c.inverted(i, role) ? Operand(c.make(Op::not_, Type::u32, {x})) : x;
}

}  // namespace

/// SHF: one word of the pair {c, a} after a 64-bit shift: the upper one of SHF.L, the lower one of
/// SHF.R, and with .HI the upper one of either, where only .S64 brings in signs. Amounts count to
/// 32 or, with .U64 and .S64, to 64; .W wraps them.
void lower_shf(LowerContext& c, const Instruction& i) {
  constexpr uint64_t kHigh = 1, kExtended = 2;
  const uint64_t parts = i.mod(ModId::parts);
  refuse(c.has_cc(i) || (parts & kExtended) != 0,
         "SHF with .X, .XHI or .CC is not supported: what they do is not documented");
  const bool left = i.form->is(kLeft), wide = i.mod(ModId::type) != 0;
  const uint32_t limit = wide ? 64 : 32;
  const Operand asked = c.raw(i, Role::b);
  const Operand amount = i.mod(ModId::wrap) != 0
                             ? c.make(Op::and_, Type::u32, {asked, imm(limit - 1)})
                             : c.make(Op::min, Type::u32, {asked, imm(limit)});
  const Reg pair = c.make(Op::pack64, Type::u64, {c.raw(i, Role::a), c.raw(i, Role::c)});
  const Type type = i.mod(ModId::type) == 3 ? Type::s64 : Type::u64;
  const Reg shifted = c.make(left ? Op::shl : Op::shr, type, {pair, amount});
  const auto [low, high] = c.unpack(shifted);
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {left || parts == kHigh ? high : low});
}

void write_logic(LowerContext& c, const Instruction& i, Operand result) {
  if (i.operand(Role::p) != nullptr) {
    const uint64_t wanted = i.mod(ModId::parts);  // false, true, zero, not zero
    Operand test = imm(wanted & 1);
    if (wanted >= 2) test = is_zero(c, i, result);
    c.write_predicate(i, Role::p, wanted == 3 ? inverse(c, test) : test);
  }
  set_flags(c, i, result, imm(0), imm(0));
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {result});
}

void write_test(LowerContext& c, const Instruction& i, Operand test) {
  const Operand third = c.pred_source(i, Role::r), other = inverse(c, test);
  const uint64_t bop = i.mod(ModId::bop);
  const Operand p = combine(c, bop, test, third), q = combine(c, bop, other, third);
  c.write_predicate(i, Role::p, p);
  c.write_predicate(i, Role::q, q);
}

void lower_lop3(LowerContext& c, const Instruction& i) {
  const Reg r = c.reg(Width::b32);
  c.emit(Op::lop3, Type::none, {r}, {c.raw(i, Role::a), c.raw(i, Role::b), c.raw(i, Role::c)})
      .mode = static_cast<uint8_t>(c.raw(i, Role::r).imm);
  write_logic(c, i, r);
}

/// Position in bits 0..7 and length in bits 8..15 of the second operand.
void lower_bfe(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "BFE with .CC is not supported yet");
  Operand a = c.raw(i, Role::a);
  if (i.mod(ModId::parts) != 0) a = c.make(Op::brev, Type::u32, {a});
  const Operand b = c.raw(i, Role::b);
  const Operand length = c.make(Op::shr, Type::u32, {b, imm(8)});
  c.emit(Op::bfe, i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32, {c.destination(i)},
         {a, b, length});
}

/// Inserts as many bits, at such a place, as the second operand says: into the third.
void lower_bfi(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "BFI with .CC is not documented");
  const Operand b = c.raw(i, Role::b);
  const Operand length = c.make(Op::shr, Type::u32, {b, imm(8)});
  c.emit(Op::bfi, Type::u32, {c.destination(i)}, {c.raw(i, Role::a), c.raw(i, Role::c), b, length});
}

void lower_popc(LowerContext& c, const Instruction& i) {
  const Operand x = inverted_source(c, i, Role::b);
  c.emit(Op::popc, Type::u32, {c.destination(i)}, {x});
}

/// The highest one, or with .SH how far it is from bit 31; all ones when there is none.
void lower_flo(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "FLO with .CC is not supported yet");
  const Type type = i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  const Reg place = c.make(Op::bfind, type == Type::s32 ? Type::s32 : Type::u32,
                           {inverted_source(c, i, Role::b)});
  if (i.mod(ModId::parts) == 0) {
    c.emit(Op::mov, Type::u32, {c.destination(i)}, {place});
    return;
  }
  const Reg none = c.compare(Cond::eq, Type::u32, place, imm(0xffffffff));
  const Reg distance = c.make(Op::sub, Type::u32, {imm(31), place});
  c.emit(Op::select, Type::u32, {c.destination(i)}, {none, imm(0xffffffff), distance});
}

/// Wide numbers are compared from the top: .XHI leaves in the flags how the upper words compare,
/// .XMED and .XLO decide where those are equal.
void lower_imnmx(LowerContext& c, const Instruction& i) {
  constexpr uint64_t kLow = 1, kHigh = 3;
  const uint64_t mode = i.mod(ModId::mode);
  refuse(c.has_cc(i) && (mode == 0 || mode == kLow),
         "IMNMX and IMNMX.XLO with .CC are not supported: what they set is not documented");
  const Type type = i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  const Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  const auto compared = [&](Cond cond) { return c.compare(cond, type, a, b); };
  Operand less = compared(Cond::lt), equal = compared(Cond::eq);
  if (mode != 0 && mode != kHigh) {
    const Operand undecided = c.flag(Flag::zero);
    const Operand above = combine(c, 0, inverse(c, undecided), inverse(c, c.carry()));
    less = combine(c, 1, above, combine(c, 0, undecided, less));
    equal = combine(c, 0, undecided, equal);
  }
  if (c.has_cc(i)) set_order(c, less, equal);
  const Operand first = combine(c, 2, less, inverse(c, c.pred_source(i, Role::p)));
  c.emit(Op::select, Type::u32, {c.destination(i)}, {first, a, b});
}

void lower_prmt(LowerContext& c, const Instruction& i) {
  static constexpr ir::PrmtMode kModes[] = {
      ir::PrmtMode::index, ir::PrmtMode::f4e, ir::PrmtMode::b4e, ir::PrmtMode::rc8,
      ir::PrmtMode::ecl,   ir::PrmtMode::ecr, ir::PrmtMode::rc16};
  const Operand a = c.raw(i, Role::a), selector = c.raw(i, Role::b), b = c.raw(i, Role::c);
  c.emit(Op::prmt, Type::none, {c.destination(i)}, {a, b, selector}).mode =
      static_cast<uint8_t>(kModes[i.mod(ModId::mode)]);
}

/// d = c ? 0 by the condition: a, else b.
void lower_icmp(LowerContext& c, const Instruction& i) {
  const Operand test = integer_compare(c, i, c.raw(i, Role::c), imm(0));
  c.emit(Op::select, Type::u32, {c.destination(i)}, {test, c.raw(i, Role::a), c.raw(i, Role::b)});
}

void lower_iset(LowerContext& c, const Instruction& i) {
  const Operand test = integer_compare(c, i, c.raw(i, Role::a), c.raw(i, Role::b));
  write_truth(c, i, combine(c, i.mod(ModId::bop), test, c.pred_source(i, Role::r)));
}

void lower_vote(LowerContext& c, const Instruction& i) {
  static constexpr Op kOps[] = {Op::vote_all, Op::vote_any, Op::vote_uni};
  const Operand p = c.pred_source(i, Role::r);
  const Operand everyone = imm(0xffffffff);
  const Reg result = c.reg(Width::pred), mask = c.reg(Width::b32);
  c.emit(kOps[i.mod(ModId::mode)], Type::none, {result}, {p, everyone});
  c.emit(Op::vote_ballot, Type::none, {mask}, {p, everyone});
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {mask});
  c.write_predicate(i, Role::p, result);
}

void lower_b2r(LowerContext& c, const Instruction& i) {
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {c.barrier_count()});
  c.write_predicate(i, Role::p, c.barrier_vote());
}

void lower_trap(LowerContext& c, const Instruction&) {
  c.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
}

}  // namespace lanewise::sass
