// Bit fields, shifts across words, three-input logic, votes and predicate logic.
#include "lanewise/types.hpp"
#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {

using ir::Cond;
using ir::imm;
using ir::Op;
using ir::Operand;
using ir::Reg;
using ir::Type;
using ir::Width;

namespace {

void refuse(bool condition, const char* what) {
  if (condition) throw Unsupported(what);
}

Operand inverted_source(LowerContext& c, const Instruction& i, Role role) {
  const Operand x = c.raw(i, role);
  return c.inverted(i, role) ? Operand(c.make(Op::not_, Type::u32, {x})) : x;
}

Operand combine(LowerContext& c, uint64_t bop, Operand x, Operand y) {
  const Op op = bop == 0 ? Op::and_ : bop == 1 ? Op::or_ : Op::xor_;
  return c.make_pred(op, Type::pred, {x, y});
}

Operand integer_compare(LowerContext& c, const Instruction& i, Operand x, Operand y) {
  static constexpr Cond kConds[] = {Cond::eq, Cond::lt, Cond::eq, Cond::le,
                                    Cond::gt, Cond::ne, Cond::ge, Cond::eq};
  const uint64_t code = i.mod(ModId::cond);
  if (code == 0 || code == 7) return imm(code == 7 ? 1 : 0);
  const Reg r = c.b.reg(Width::pred);
  c.b.emit(Op::icmp, i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32, {r}, {x, y}).cond =
      kConds[code];
  return r;
}

}  // namespace

/// SHF: one word of the pair {c, a} after a 64-bit shift. Amounts count to 32 or, with .U64 and
/// .S64, to 64; .W wraps them.
void lower_shf(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "SHF with .CC is not supported yet");
  refuse(i.mod(ModId::parts) != 0, "SHF with .HI is not supported yet");
  const bool left = i.form->mnemonic == "SHF.L", wide = i.mod(ModId::type) != 0;
  const uint32_t limit = wide ? 64 : 32;
  const Operand asked = c.raw(i, Role::b);
  const Operand amount = i.mod(ModId::wrap) != 0
                             ? c.make(Op::and_, Type::u32, {asked, imm(limit - 1)})
                             : c.make(Op::min, Type::u32, {asked, imm(limit)});
  const Reg pair = c.make(Op::pack64, Type::u64, {c.raw(i, Role::a), c.raw(i, Role::c)});
  const Type type = i.mod(ModId::type) == 3 ? Type::s64 : Type::u64;
  const Reg shifted = c.make(left ? Op::shl : Op::shr, type, {pair, amount});
  const Reg low = c.b.reg(Width::b32), high = c.b.reg(Width::b32);
  c.b.emit(Op::unpack64, Type::u32, {low, high}, {shifted});
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {left ? high : low});
}

void write_zero_test(LowerContext& c, const Instruction& i, Operand result) {
  if (i.operand(Role::p) == nullptr) return;
  const uint64_t wanted = i.mod(ModId::parts);  // false, true, zero, not zero
  if (wanted < 2) return c.write_predicate(i, Role::p, imm(wanted));
  const Reg test = c.b.reg(Width::pred);
  c.b.emit(Op::icmp, Type::u32, {test}, {result, imm(0)}).cond = wanted == 3 ? Cond::ne : Cond::eq;
  c.write_predicate(i, Role::p, test);
}

void lower_lop3(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i), "LOP3 with .X or .CC is not supported yet");
  const Reg r = c.b.reg(Width::b32);
  c.b.emit(Op::lop3, Type::none, {r}, {c.raw(i, Role::a), c.raw(i, Role::b), c.raw(i, Role::c)})
      .mode = static_cast<uint8_t>(c.raw(i, Role::r).imm);
  write_zero_test(c, i, r);
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {r});
}

void lower_psetp(LowerContext& c, const Instruction& i) {
  const Operand first =
      combine(c, i.mod(ModId::bop), c.pred_source(i, Role::a), c.pred_source(i, Role::b));
  const Operand third = c.pred_source(i, Role::c);
  const Operand other = c.make_pred(Op::not_, Type::pred, {first});
  const Operand p = combine(c, i.mod(ModId::op), first, third);
  const Operand q = combine(c, i.mod(ModId::op), other, third);
  c.write_predicate(i, Role::p, p);
  c.write_predicate(i, Role::q, q);
}

/// Position in bits 0..7 and length in bits 8..15 of the second operand.
void lower_bfe(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "BFE with .CC is not supported yet");
  Operand a = c.raw(i, Role::a);
  if (i.mod(ModId::parts) != 0) a = c.make(Op::brev, Type::u32, {a});
  const Operand b = c.raw(i, Role::b);
  const Operand length = c.make(Op::shr, Type::u32, {b, imm(8)});
  c.b.emit(Op::bfe, i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32, {c.destination(i)},
           {a, b, length});
}

void lower_popc(LowerContext& c, const Instruction& i) {
  const Operand x = inverted_source(c, i, Role::b);
  c.b.emit(Op::popc, Type::u32, {c.destination(i)}, {x});
}

/// The highest one, or with .SH how far it is from bit 31; all ones when there is none.
void lower_flo(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "FLO with .CC is not supported yet");
  const Type type = i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  const Reg place = c.make(Op::bfind, type == Type::s32 ? Type::s32 : Type::u32,
                           {inverted_source(c, i, Role::b)});
  if (i.mod(ModId::parts) == 0) {
    c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {place});
    return;
  }
  const Reg none = c.b.reg(Width::pred);
  c.b.emit(Op::icmp, Type::u32, {none}, {place, imm(0xffffffff)}).cond = Cond::eq;
  const Reg distance = c.make(Op::sub, Type::u32, {imm(31), place});
  c.b.emit(Op::select, Type::u32, {c.destination(i)}, {none, imm(0xffffffff), distance});
}

void lower_imnmx(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "IMNMX with .CC is not supported yet");
  const Type type = i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  const Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  const Reg low = c.make(Op::min, type, {a, b}), high = c.make(Op::max, type, {a, b});
  c.b.emit(Op::select, Type::u32, {c.destination(i)}, {c.pred_source(i, Role::p), low, high});
}

void lower_prmt(LowerContext& c, const Instruction& i) {
  static constexpr ir::PrmtMode kModes[] = {
      ir::PrmtMode::index, ir::PrmtMode::f4e, ir::PrmtMode::b4e, ir::PrmtMode::rc8,
      ir::PrmtMode::ecl,   ir::PrmtMode::ecr, ir::PrmtMode::rc16};
  const Operand a = c.raw(i, Role::a), selector = c.raw(i, Role::b), b = c.raw(i, Role::c);
  c.b.emit(Op::prmt, Type::none, {c.destination(i)}, {a, b, selector}).mode =
      static_cast<uint8_t>(kModes[i.mod(ModId::mode)]);
}

/// d = c ? 0 by the condition: a, else b.
void lower_icmp(LowerContext& c, const Instruction& i) {
  const Operand test = integer_compare(c, i, c.raw(i, Role::c), imm(0));
  c.b.emit(Op::select, Type::u32, {c.destination(i)}, {test, c.raw(i, Role::a), c.raw(i, Role::b)});
}

void lower_iset(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i), "ISET with .X or .CC is not supported yet");
  const Operand test = integer_compare(c, i, c.raw(i, Role::a), c.raw(i, Role::b));
  const Operand result = combine(c, i.mod(ModId::bop), test, c.pred_source(i, Role::r));
  c.b.emit(Op::select, Type::u32, {c.destination(i)},
           {result, imm(i.mod(ModId::parts) != 0 ? 0x3f800000 : 0xffffffff), imm(0)});
}

void lower_vote(LowerContext& c, const Instruction& i) {
  static constexpr Op kOps[] = {Op::vote_all, Op::vote_any, Op::vote_uni};
  const Operand p = c.pred_source(i, Role::r);
  const Operand everyone = imm(0xffffffff);
  const Reg result = c.b.reg(Width::pred), mask = c.b.reg(Width::b32);
  c.b.emit(kOps[i.mod(ModId::mode)], Type::none, {result}, {p, everyone});
  c.b.emit(Op::vote_ballot, Type::none, {mask}, {p, everyone});
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {mask});
  c.write_predicate(i, Role::p, result);
}

void lower_b2r(LowerContext& c, const Instruction& i) {
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {c.barrier_count()});
  c.write_predicate(i, Role::p, c.barrier_vote());
}

void lower_trap(LowerContext& c, const Instruction&) {
  c.b.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
}

}  // namespace lanewise::sass
