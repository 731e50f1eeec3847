// Integer, logic, move and predicate instructions.
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

/// d = a + b + carry_in, and the carry into CC when asked for. `final` writes the guest's state.
void add_into(LowerContext& c, Reg d, Operand a, Operand b, Operand carry_in, bool set_cc) {
  const bool plain = carry_in.is_imm() && carry_in.imm == 0;
  if (!set_cc && plain) {
    c.b.emit(Op::add, Type::u32, {d}, {a, b});
    return;
  }
  const Reg out = set_cc ? c.carry() : c.b.reg(Width::pred);
  c.b.emit(Op::addc, Type::u32, {d, out}, {a, b, carry_in});
}

Operand complement(LowerContext& c, Operand x) {
  if (x.is_imm()) return imm(~x.imm & 0xffffffff);
  return c.make(Op::not_, Type::u32, {x});
}

/// Negation inside an addition: -x = ~x + 1, where .X takes the carry instead of the one.
Operand addend(LowerContext& c, const Instruction& i, Role role) {
  const Operand x = c.raw(i, role);
  return c.negated(i, role) ? complement(c, x) : x;
}

Operand negate(LowerContext& c, Operand x, bool condition) {
  if (!condition) return x;
  if (x.is_imm()) return imm((0 - x.imm) & 0xffffffff);
  return c.make(Op::neg, Type::s32, {x});
}

}  // namespace

void lower_mov(LowerContext& c, const Instruction& i) {
  if (const Relocation* r = c.relocation(i)) {
    const Reg address = c.make(Op::mov, Type::u64, {c.symbol(r->symbol, r->addend)});
    const Reg other = c.b.reg(Width::b32), half = c.destination(i);
    c.b.emit(Op::unpack64, Type::u32, r->high ? std::vector{other, half} : std::vector{half, other},
             {address});
    return;
  }
  const Operand value = c.raw(i, Role::b);
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {value});
}

void lower_iadd(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::sat) != 0, ".SAT of integer additions is not supported yet");
  const bool plus_one = i.form->mnemonic == "IADD.PO";
  const bool any_negated = c.negated(i, Role::a) || c.negated(i, Role::b) || plus_one;
  const Operand a = addend(c, i, Role::a), b = addend(c, i, Role::b);
  const Operand carry = i.mod(ModId::x) != 0 ? Operand(c.carry()) : imm(any_negated ? 1 : 0);
  add_into(c, c.destination(i), a, b, carry, c.has_cc(i));
}

void lower_iadd3(LowerContext& c, const Instruction& i) {
  // Three addends can carry twice; how CC holds that is not documented.
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i), "IADD3 with .X or .CC is not supported yet");
  const Operand a = negate(c, c.raw(i, Role::a), c.negated(i, Role::a));
  const Operand b = negate(c, c.raw(i, Role::b), c.negated(i, Role::b));
  const Operand third = negate(c, c.raw(i, Role::c), c.negated(i, Role::c));
  Operand sum = c.make(Op::add, Type::u32, {a, b});
  const uint64_t part = i.mod(ModId::parts);
  if (part != 0) sum = c.make(part == 1 ? Op::shr : Op::shl, Type::u32, {sum, imm(16)});
  c.b.emit(Op::add, Type::u32, {c.destination(i)}, {sum, third});
}

void lower_iscadd(LowerContext& c, const Instruction& i) {
  const Operand shifted = c.make(Op::shl, Type::u32, {c.raw(i, Role::a), c.raw(i, Role::c)});
  const bool na = c.negated(i, Role::a), nb = c.negated(i, Role::b);
  const bool plus_one = i.form->mnemonic == "ISCADD.PO";
  const Operand a = na ? complement(c, shifted) : shifted;
  const Operand raw_b = c.raw(i, Role::b);
  const Operand b = nb ? complement(c, raw_b) : raw_b;
  add_into(c, c.destination(i), a, b, imm(na || nb || plus_one ? 1 : 0), c.has_cc(i));
}

/// LEA: (a << n) + b. LEA.HI: the upper word of {c, a} << n, plus b.
void lower_lea(LowerContext& c, const Instruction& i) {
  const bool high = i.form->mnemonic == "LEA.HI";
  const Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  refuse(high && c.negated(i, Role::a), "LEA.HI with a negated operand is not supported yet");
  const Operand scaled =
      high ? c.make(Op::shf_l, Type::none, {a, c.raw(i, Role::c), c.raw(i, Role::r)})
           : c.make(Op::shl, Type::u32, {a, c.raw(i, Role::c)});
  const bool negate = c.negated(i, Role::a), extended = i.mod(ModId::x) != 0;
  const Operand carry = extended ? Operand(c.carry()) : imm(negate ? 1 : 0);
  add_into(c, c.destination(i), negate ? complement(c, scaled) : scaled, b, carry, c.has_cc(i));
}

void lower_shift(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0 || i.mod(ModId::parts) != 0 || c.has_cc(i),
         "shifts with .X, .XHI, .BREV or .CC are not supported yet");
  Operand amount = c.raw(i, Role::b);
  if (i.mod(ModId::wrap) != 0) amount = c.make(Op::and_, Type::u32, {amount, imm(31)});
  const bool right = i.form->mod(ModId::signed_) != nullptr;
  const Type type = right && i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  c.b.emit(right ? Op::shr : Op::shl, type, {c.destination(i)}, {c.raw(i, Role::a), amount});
}

void lower_logic(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i), "logic with .X or .CC is not supported yet");
  Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  if (c.inverted(i, Role::a)) a = complement(c, a);
  if (c.inverted(i, Role::b)) b = complement(c, b);
  static constexpr Op kOps[] = {Op::and_, Op::or_, Op::xor_};
  const uint64_t op = i.mod(ModId::op);
  const Operand result = op == 3 ? b : Operand(c.make(kOps[op], Type::u32, {a, b}));
  write_zero_test(c, i, result);
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {result});
}

void lower_sel(LowerContext& c, const Instruction& i) {
  const Operand p = c.pred_source(i, Role::p);
  c.b.emit(Op::select, Type::u32, {c.destination(i)}, {p, c.raw(i, Role::a), c.raw(i, Role::b)});
}

namespace {

Operand compare(LowerContext& c, const Instruction& i) {
  static constexpr Cond kConds[] = {Cond::eq, Cond::lt, Cond::eq, Cond::le,
                                    Cond::gt, Cond::ne, Cond::ge, Cond::eq};
  const uint64_t code = i.mod(ModId::cond);
  if (code == 0 || code == 7) return imm(code == 7 ? 1 : 0);
  const Type type = i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  const Reg r = c.b.reg(Width::pred);
  c.b.emit(Op::icmp, type, {r}, {c.raw(i, Role::a), c.raw(i, Role::b)}).cond = kConds[code];
  return r;
}

Operand combine(LowerContext& c, uint64_t bop, Operand x, Operand y) {
  const Op op = bop == 0 ? Op::and_ : bop == 1 ? Op::or_ : Op::xor_;
  return c.make_pred(op, Type::pred, {x, y});
}

}  // namespace

/// P = (a ? b) op R, Q = !(a ? b) op R.
void lower_isetp(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0, "ISETP.X is not supported yet");
  const Operand result = compare(c, i);
  const Operand third = c.pred_source(i, Role::r);
  const uint64_t bop = i.mod(ModId::bop);
  const Operand p = combine(c, bop, result, third);
  const bool wants_q = c.reg_number(i, Role::q) != kPT;
  const Operand q =
      wants_q ? combine(c, bop, c.make_pred(Op::not_, Type::pred, {result}), third) : imm(0);
  c.write_predicate(i, Role::p, p);
  if (wants_q) c.write_predicate(i, Role::q, q);
}

namespace {

Operand half(LowerContext& c, Operand x, bool high, bool is_signed) {
  if (x.is_imm()) {
    const uint64_t h = x.imm >> (high ? 16 : 0) & 0xffff;
    return imm(is_signed && h >= 0x8000 ? h | 0xffff0000 : h);
  }
  if (high) return c.make(Op::shr, is_signed ? Type::s32 : Type::u32, {x, imm(16)});
  return c.make(is_signed ? Op::sext16 : Op::zext16, Type::u32, {x});
}

}  // namespace

/// 16 x 16 -> 32 bits, shifted, plus an addend that can be made of b and c; three of them make a
/// 32-bit multiplication.
void lower_xmad(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i), "XMAD with .X or .CC is not supported yet");
  const uint64_t signs = i.mod(ModId::signs);
  const Operand a = half(c, c.raw(i, Role::a), c.high_half(i, Role::a), (signs & 1) != 0);
  const Operand whole_b = c.raw(i, Role::b);
  const Operand b = half(c, whole_b, c.high_half(i, Role::b), (signs & 2) != 0);
  Operand product = c.make(Op::mul, Type::u32, {a, b});
  if (i.mod(ModId::psl) != 0) product = c.make(Op::shl, Type::u32, {product, imm(16)});
  Operand addend = c.raw(i, Role::c);
  switch (i.mod(ModId::acc)) {
    case 1:
      addend = half(c, addend, false, false);
      break;
    case 2:
      addend = half(c, addend, true, false);
      break;
    case 3:
      throw Unsupported("XMAD.CSFU is not supported yet");
    case 4:
      addend = c.make(Op::add, Type::u32, {addend, c.make(Op::shl, Type::u32, {whole_b, imm(16)})});
      break;
    default:
      break;
  }
  Operand sum = c.make(Op::add, Type::u32, {product, addend});
  if (i.mod(ModId::mrg) != 0) {
    const Operand low = c.make(Op::zext16, Type::u32, {sum});
    sum = c.make(Op::or_, Type::u32, {low, c.make(Op::shl, Type::u32, {whole_b, imm(16)})});
  }
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {sum});
}

}  // namespace lanewise::sass
