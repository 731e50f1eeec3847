// Integer, logic, move and predicate instructions.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

/// d = a + b + carry_in, and the flags when asked for.
void add(LowerContext& c, const Instruction& i, Reg d, Operand a, Operand b, Operand carry_in) {
  const bool plain = carry_in.is_imm() && carry_in.imm == 0, set = c.has_cc(i);
  if (!set && plain) {
    c.emit(Op::add, Type::u32, {d}, {a, b});
    return;
  }
  if (!set || !c.tracks_flags()) {
    const Reg out = set ? c.carry() : c.reg(Width::pred);
    c.emit(Op::addc, Type::u32, {d, out}, {a, b, carry_in});
    return;
  }
  const Reg sum = c.reg(Width::b32), out = c.reg(Width::pred);
  c.emit(Op::addc, Type::u32, {sum, out}, {a, b, carry_in});
  set_flags(c, i, sum, out, overflows(c, a, b, sum));
  c.emit(Op::mov, Type::u32, {d}, {sum});
}
}  // namespace

void add_into(LowerContext& c, const Instruction& i, Operand x, Operand y, Operand carry_in) {
  add(c, i, c.destination(i), x, y, carry_in);
}

namespace {

Operand complement(LowerContext& c, Operand x) {
  if (x.is_imm()) return imm(~x.imm & 0xffffffff);
  return c.make(Op::not_, Type::u32, {x});
}

/// The operand as its modifiers choose it, without the sign.
Operand chosen_half(LowerContext& c, const Instruction& i, Role role) {
  const Operand x = c.raw(i, role);
  const OperandSpec* o = i.operand(role);
  const uint64_t part = o->high.len == 2 ? o->high.get(i.word) : 0;
  refuse(part == 3, "an operand of IADD3 is .H0, .H1 or whole: code 3 does not exist");
  if (part == 0) return x;
  return part == 1 ? c.make(Op::zext16, Type::u32, {x}) : c.make(Op::shr, Type::u32, {x, imm(16)});
}

/// Negation inside an addition: -x = ~x + 1, where .X takes the carry instead of the one.
Operand addend(LowerContext& c, const Instruction& i, Role role) {
  const Operand x = chosen_half(c, i, role);
  return c.negated(i, role) ? complement(c, x) : x;
}

Operand negate(LowerContext& c, Operand x, bool condition) {
  if (!condition) return x;
  if (x.is_imm()) return imm((0 - x.imm) & 0xffffffff);
  return c.make(Op::neg, Type::s32, {x});
}

}  // namespace

namespace {

/// A MOV with a mask writes in those lanes of every four whose bit is set.
void leave_out_lanes_of_quads(LowerContext& c, const Instruction& i) {
  const uint64_t mask = c.raw(i, Role::c).imm;
  if (mask == 15) return;
  const Reg lane = c.special(SReg::laneid);
  const Reg place = c.make(Op::and_, Type::u32, {lane, imm(3)});
  const Reg bit =
      c.make(Op::and_, Type::u32, {c.make(Op::shr, Type::u32, {imm(mask), place}), imm(1)});
  const Reg writes = c.compare(Cond::ne, Type::u32, bit, imm(0));
  c.set_guard(c.narrowed(writes));
}

}  // namespace

void lower_mov(LowerContext& c, const Instruction& i) {
  if (const Relocation* r = c.relocation(i)) {
    leave_out_lanes_of_quads(c, i);
    const Reg address = c.make(Op::mov, Type::u64, {c.symbol(r->symbol, r->addend)});
    const Reg other = c.reg(Width::b32), half = c.destination(i);
    c.emit(Op::unpack64, Type::u32, r->high ? std::vector{other, half} : std::vector{half, other},
           {address});
    return;
  }
  const Operand value = c.raw(i, Role::b);
  leave_out_lanes_of_quads(c, i);
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {value});
}

namespace {

/// The sum as it is, brought into the range of 32 signed bits.
void add_saturated(LowerContext& c, const Instruction& i, bool plus_one) {
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i), ".SAT with .X or .CC is not documented");
  const auto wide = [&](Role role) -> Operand {
    const Operand x = c.raw(i, role);
    const Reg w = c.make(Op::sext64, Type::s64, {x});
    return c.negated(i, role) ? Operand(c.make(Op::neg, Type::s64, {w})) : Operand(w);
  };
  const Operand a = wide(Role::a), b = wide(Role::b);
  Operand sum = c.make(Op::add, Type::s64, {a, b});
  if (plus_one) sum = c.make(Op::add, Type::s64, {sum, imm(1)});
  sum = c.make(Op::min, Type::s64, {sum, imm(0x7fffffff)});
  sum = c.make(Op::max, Type::s64, {sum, imm(0xffffffff80000000)});
  c.emit(Op::trunc32, Type::u32, {c.destination(i)}, {sum});
}

}  // namespace

void lower_iadd(LowerContext& c, const Instruction& i) {
  const bool plus_one = i.form->is(kPlusOne);
  refuse(plus_one && i.mod(ModId::x) != 0, "a sum plus one (.PO) with .X is not documented");
  if (i.mod(ModId::sat) != 0) return add_saturated(c, i, plus_one);
  const bool any_negated = c.negated(i, Role::a) || c.negated(i, Role::b) || plus_one;
  const Operand a = addend(c, i, Role::a), b = addend(c, i, Role::b);
  add_into(c, i, a, b, i.mod(ModId::x) != 0 ? Operand(c.carry()) : imm(any_negated ? 1 : 0));
}

namespace {

/// Three numbers and up to two ones: the ones of negations, or with .X what the lower words
/// carried.
void add_three(LowerContext& c, const Instruction& i) {
  const Operand x = addend(c, i, Role::a), y = addend(c, i, Role::b), z = addend(c, i, Role::c);
  const int ones =
      int{c.negated(i, Role::a)} + int{c.negated(i, Role::b)} + int{c.negated(i, Role::c)};
  refuse(ones == 3, "IADD3 of three negated numbers with .X or .CC is not documented");
  const bool extended = i.mod(ModId::x) != 0;
  const Operand first = extended ? Operand(c.carry()) : imm(ones >= 1 ? 1 : 0);
  const Operand second = extended ? Operand(c.flag(Flag::second_carry)) : imm(ones >= 2 ? 1 : 0);
  const Reg part = c.reg(Width::b32), sum = c.reg(Width::b32);
  const Reg once = c.reg(Width::pred), again = c.reg(Width::pred);
  c.emit(Op::addc, Type::u32, {part, once}, {x, y, first});
  c.emit(Op::addc, Type::u32, {sum, again}, {part, z, second});
  if (c.has_cc(i)) {
    Operand overflow = imm(0);
    if (c.tracks_flags())  // the second addition may bring back what the first took out of range
      overflow =
          c.make(Op::xor_, Type::pred, {overflows(c, x, y, part), overflows(c, part, z, sum)});
    set_flags(c, i, sum, c.make(Op::or_, Type::pred, {once, again}), overflow);
    c.emit(Op::and_, Type::pred, {c.flag(Flag::second_carry)}, {once, again});
  }
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {sum});
}

/// .RS keeps the carry of the first sum: 33 bits are shifted.
Operand shifted_sum(LowerContext& c, const Instruction& i, Operand a, Operand b) {
  const Reg sum = c.reg(Width::b32), carry = c.reg(Width::pred);
  c.emit(Op::addc, Type::u32, {sum, carry}, {a, b, imm(0)});
  if (i.mod(ModId::parts) == 2) return c.make(Op::shl, Type::u32, {sum, imm(16)});
  const Reg low = c.make(Op::shr, Type::u32, {sum, imm(16)});
  const Reg high = c.make(Op::select, Type::u32, {carry, imm(0x10000), imm(0)});
  return c.make(Op::or_, Type::u32, {low, high});
}

}  // namespace

void lower_iadd3(LowerContext& c, const Instruction& i) {
  const bool wide = i.mod(ModId::x) != 0 || c.has_cc(i), shifts = i.mod(ModId::parts) != 0;
  refuse(wide && shifts, "IADD3.RS and .LS with .X or .CC are not documented");
  if (wide) return add_three(c, i);
  refuse(i.mod(ModId::parts) == 1 && (c.negated(i, Role::a) || c.negated(i, Role::b)),
         "what IADD3.RS carries out of a negated number is not documented");
  refuse(i.mod(ModId::parts) == 3, "IADD3 shifts by .RS, .LS or not: code 3 does not exist");
  const auto term = [&](Role r) { return negate(c, chosen_half(c, i, r), c.negated(i, r)); };
  const Operand a = term(Role::a), b = term(Role::b), third = term(Role::c);
  const Operand sum =
      shifts ? shifted_sum(c, i, a, b) : Operand(c.make(Op::add, Type::u32, {a, b}));
  c.emit(Op::add, Type::u32, {c.destination(i)}, {sum, third});
}

void lower_iscadd(LowerContext& c, const Instruction& i) {
  const Operand shifted = c.make(Op::shl, Type::u32, {c.raw(i, Role::a), c.raw(i, Role::c)});
  const bool na = c.negated(i, Role::a), nb = c.negated(i, Role::b);
  const bool plus_one = i.form->is(kPlusOne);
  const Operand a = na ? complement(c, shifted) : shifted;
  const Operand raw_b = c.raw(i, Role::b);
  const Operand b = nb ? complement(c, raw_b) : raw_b;
  add_into(c, i, a, b, imm(na || nb || plus_one ? 1 : 0));
}

namespace {

/// Neither in the shared nor in the local window.
Operand outside_windows(LowerContext& c, Operand low, Operand high) {
  const Reg window = c.make(Op::and_, Type::u32, {low, imm(0xff000000)});
  const auto differs = [&](Operand x, Operand y) { return c.compare(Cond::ne, Type::u32, x, y); };
  const Operand shared = differs(window, c.constant(0, 0)),
                local = differs(window, c.constant(0, 4));
  const Operand neither = combine(c, 0, shared, local);
  return combine(c, 1, neither, differs(high, imm(0)));
}

}  // namespace

/// LEA: (a << n) + b. LEA.HI: the upper word of {c, a} << n, plus b.
namespace {

/// Compilers ask for the window of an address by scaling it by one: an address stays one.
Operand scaled_lower(LowerContext& c, Operand a, Operand by) {
  return by == imm(0) ? a : c.make(Op::shl, Type::u32, {a, by});
}
Operand scaled_upper(LowerContext& c, Operand low, Operand high, Operand by) {
  return by == imm(0) ? high : c.make(Op::shf_l, Type::none, {low, high, by});
}

}  // namespace

void lower_lea(LowerContext& c, const Instruction& i) {
  const bool high = i.form->is(kUpperWord), extended = i.mod(ModId::x) != 0;
  const bool negative = c.negated(i, Role::a), asks = i.operand(Role::p) != nullptr;
  refuse(high && negative && !extended, "LEA.HI of a negated number without .X is not documented");
  refuse(high && asks && !extended,
         "LEA.HI asks for the window of an address whose lower half nothing says: expected .X");
  const Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  const Operand scaled = high ? scaled_upper(c, a, c.raw(i, Role::c), c.raw(i, Role::r))
                              : scaled_lower(c, a, c.raw(i, Role::c));
  const Reg result = c.writable(kRZ);
  add(c, i, result, negative ? complement(c, scaled) : scaled, b,
      extended ? Operand(c.carry()) : imm(negative ? 1 : 0));
  if (asks)
    c.write_predicate(
        i, Role::p,
        high ? outside_windows(c, c.lea_low(), result) : outside_windows(c, result, imm(0)));
  if (!high && c.has_cc(i) && c.tests_windows())
    c.emit(Op::mov, Type::u32, {c.lea_low()}, {result});
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {result});
}

void lower_shift(LowerContext& c, const Instruction& i) {
  refuse(i.mod(ModId::x) != 0 || c.has_cc(i),
         "shifts with .X, .XHI or .CC are not supported: what they do is not documented");
  Operand amount = c.raw(i, Role::b);
  if (i.mod(ModId::wrap) != 0) amount = c.make(Op::and_, Type::u32, {amount, imm(31)});
  const bool right = i.form->mod(ModId::signed_) != nullptr;
  const Type type = right && i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  Operand a = c.raw(i, Role::a);
  if (i.mod(ModId::parts) != 0) a = c.make(Op::brev, Type::u32, {a});
  c.emit(right ? Op::shr : Op::shl, type, {c.destination(i)}, {a, amount});
}

void lower_logic(LowerContext& c, const Instruction& i) {
  Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b);
  if (c.inverted(i, Role::a)) a = complement(c, a);
  if (c.inverted(i, Role::b)) b = complement(c, b);
  static constexpr Op kOps[] = {Op::and_, Op::or_, Op::xor_};
  const uint64_t op = i.mod(ModId::op);
  const Operand result = op == 3 ? b : Operand(c.make(kOps[op], Type::u32, {a, b}));
  write_logic(c, i, result);
}

void lower_sel(LowerContext& c, const Instruction& i) {
  const Operand p = c.pred_source(i, Role::p);
  c.emit(Op::select, Type::u32, {c.destination(i)}, {p, c.raw(i, Role::a), c.raw(i, Role::b)});
}

/// P = (a ? b) op R, Q = !(a ? b) op R.
void lower_isetp(LowerContext& c, const Instruction& i) {
  write_test(c, i, integer_compare(c, i, c.raw(i, Role::a), c.raw(i, Role::b)));
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

namespace {

/// The signed product of upper halves as part of a signed 32 x 32 bit product: the two products of
/// unlike halves are added as unsigned numbers, so a negative one is 1 too large from bit 16 on.
Operand sign_correction(LowerContext& c, const Instruction& i, Operand whole_a, Operand whole_b) {
  refuse(i.mod(ModId::signs) != 3 || !c.high_half(i, Role::a) || !c.high_half(i, Role::b),
         "XMAD.CSFU is known for two signed upper halves only");
  const auto test = [&](Type type, Cond cond, Operand x) {
    return c.compare(cond, type, x, imm(0));
  };
  const auto part = [&](Operand x, Operand other) {
    const Operand low = half(c, other, false, false);
    const Operand negative =
        combine(c, 0, test(Type::s32, Cond::lt, x), test(Type::u32, Cond::ne, low));
    return Operand(c.make(Op::select, Type::u32, {negative, imm(0x10000), imm(0)}));
  };
  return c.make(Op::add, Type::u32, {part(whole_a, whole_b), part(whole_b, whole_a)});
}

}  // namespace

/// 16 x 16 -> 32 bits, shifted, plus an addend that can be made of b and c; three of them make a
/// 32-bit multiplication.
void lower_xmad(LowerContext& c, const Instruction& i) {
  const bool wide = i.mod(ModId::x) != 0 || c.has_cc(i);
  const uint64_t signs = i.mod(ModId::signs), acc = i.mod(ModId::acc);
  refuse(wide && (i.mod(ModId::mrg) != 0 || acc >= 3),
         "XMAD.MRG, .CBCC and .CSFU with .X or .CC are not documented");
  const Operand whole_a = c.raw(i, Role::a), whole_b = c.raw(i, Role::b);
  const Operand a = half(c, whole_a, c.high_half(i, Role::a), (signs & 1) != 0);
  const Operand b = half(c, whole_b, c.high_half(i, Role::b), (signs & 2) != 0);
  Operand product = c.make(Op::mul, Type::u32, {a, b});
  if (i.mod(ModId::psl) != 0) product = c.make(Op::shl, Type::u32, {product, imm(16)});
  Operand addend = c.raw(i, Role::c);
  if (acc == 1 || acc == 2)
    addend = half(c, addend, acc == 2, false);
  else if (acc == 3)
    addend = c.make(Op::sub, Type::u32, {addend, sign_correction(c, i, whole_a, whole_b)});
  else if (acc == 4)
    addend = c.make(Op::add, Type::u32, {addend, c.make(Op::shl, Type::u32, {whole_b, imm(16)})});
  if (i.mod(ModId::mrg) == 0)
    return add_into(c, i, product, addend, i.mod(ModId::x) != 0 ? Operand(c.carry()) : imm(0));
  const Operand low =
      c.make(Op::zext16, Type::u32, {c.make(Op::add, Type::u32, {product, addend})});
  c.emit(Op::or_, Type::u32, {c.destination(i)},
         {low, c.make(Op::shl, Type::u32, {whole_b, imm(16)})});
}

}  // namespace lanewise::sass
