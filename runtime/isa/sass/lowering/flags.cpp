// The condition code: what sets its flags, what tests them, and compares that take them along.
#include <fmt/format.h>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

constexpr uint64_t kFalse = 0, kTrue = 15;

Operand both(LowerContext& c, Operand x, Operand y) {
  return c.make(Op::and_, Type::pred, {x, y});
}
Operand either(LowerContext& c, Operand x, Operand y) {
  return c.make(Op::or_, Type::pred, {x, y});
}
Operand differ(LowerContext& c, Operand x, Operand y) {
  return c.make(Op::xor_, Type::pred, {x, y});
}
Operand compared(LowerContext& c, Type type, Cond cond, Operand x, Operand y) {
  return c.compare(cond, type, x, y);
}

/// A NaN is expressed by the sign and the zero flag at once.
Operand tested(LowerContext& c, uint64_t code) {
  const auto z = [&] { return Operand(c.flag(Flag::zero)); };
  const auto s = [&] { return Operand(c.flag(Flag::sign)); };
  const auto o = [&] { return Operand(c.flag(Flag::overflow)); };
  const auto cy = [&] { return Operand(c.carry()); };
  switch (code) {
    case 1:  // LT
      return differ(c, both(c, s(), inverse(c, z())), o());
    case 2:  // EQ
      return both(c, z(), inverse(c, s()));
    case 3:  // LE
      return differ(c, s(), either(c, z(), o()));
    case 4:  // GT
      return both(c, inverse(c, differ(c, s(), o())), inverse(c, z()));
    case 5:  // NE
      return inverse(c, z());
    case 6:  // GE
      return inverse(c, differ(c, s(), o()));
    case 7:  // NUM
      return inverse(c, both(c, s(), z()));
    case 8:  // NAN
      return both(c, s(), z());
    case 9:  // LTU
      return differ(c, s(), o());
    case 10:  // EQU
      return z();
    case 11:  // LEU
      return either(c, differ(c, s(), o()), z());
    case 12:  // GTU
      return differ(c, inverse(c, s()), either(c, z(), o()));
    case 13:  // NEU
      return either(c, s(), inverse(c, z()));
    case 14:  // GEU
      return differ(c, either(c, inverse(c, s()), z()), o());
    case 16:  // OFF
      return inverse(c, o());
    case 17:  // LO
      return inverse(c, cy());
    case 18:  // SFF
      return inverse(c, s());
    case 19:  // LS
      return either(c, z(), inverse(c, cy()));
    case 20:  // HI
      return both(c, cy(), inverse(c, z()));
    case 21:  // SFT
      return s();
    case 22:  // HS
      return cy();
    case 23:  // OFT
      return o();
    case 30:  // RLE
      return either(c, s(), z());
    case 31:  // RGT
      return both(c, inverse(c, s()), inverse(c, z()));
    default:
      throw Unsupported(
          fmt::format("CC.{} tests the clipping state of a vertex, which does not exist here",
                      flag_tests()[code]));
  }
}

bool reads_more_than_the_carry(const Instruction& i) {
  const OperandSpec* test = i.operand(Role::test);
  if (test != nullptr && test->field.get(i.word) != kTrue) return true;
  if (i.form->is(kReadsFlags) && (i.form->mod(ModId::mode) == nullptr || i.mod(ModId::mode) != 0))
    return true;
  const bool moves = i.form->is(kReadsPredicates) && i.operand(Role::p)->field.get(i.word) != 0;
  return moves || (i.mod(ModId::x) != 0 && i.form->is(kReadsAllFlags));
}

}  // namespace

Operand inverse(LowerContext& c, Operand p) {
  return p.is_imm() ? imm(p.imm ^ 1) : Operand(c.make(Op::not_, Type::pred, {p}));
}

bool reads_flags(const Kernel& kernel) {
  for (const Instruction& i : kernel.code)
    if (reads_more_than_the_carry(i)) return true;
  return false;
}

Operand flag_test(LowerContext& c, const Instruction& i) {
  const OperandSpec* test = i.operand(Role::test);
  return flag_test(c, test == nullptr ? kTrue : test->field.get(i.word));
}

Operand flag_test(LowerContext& c, uint64_t code) {
  if (code == kTrue || code == kFalse) return imm(code == kTrue ? 1 : 0);
  return tested(c, code);
}

void set_flags(LowerContext& c, const Instruction& i, Operand result, Operand carry,
               Operand overflow) {
  if (!c.has_cc(i)) return;
  const auto put = [&](Reg flag, Operand value) { c.emit(Op::mov, Type::pred, {flag}, {value}); };
  if (c.tracks_flags()) {
    put(c.flag(Flag::zero), is_zero(c, i, result));
    put(c.flag(Flag::sign), compared(c, Type::s32, Cond::lt, result, imm(0)));
    put(c.flag(Flag::overflow), overflow);
  }
  put(c.carry(), carry);
}

void set_order(LowerContext& c, Operand less, Operand equal) {
  const Operand not_less = inverse(c, less);
  const std::pair<Reg, Operand> flags[] = {{c.flag(Flag::zero), equal},
                                           {c.flag(Flag::sign), less},
                                           {c.flag(Flag::overflow), imm(0)},
                                           {c.carry(), not_less}};
  for (const auto& [flag, value] : flags) c.emit(Op::mov, Type::pred, {flag}, {value});
}

Operand is_zero(LowerContext& c, const Instruction& i, Operand result) {
  const Operand zero = compared(c, Type::u32, Cond::eq, result, imm(0));
  return i.mod(ModId::x) != 0 ? both(c, zero, c.flag(Flag::zero)) : zero;
}

Operand overflows(LowerContext& c, Operand a, Operand b, Operand sum) {
  const Operand x = c.make(Op::xor_, Type::u32, {a, sum}),
                y = c.make(Op::xor_, Type::u32, {b, sum});
  return compared(c, Type::s32, Cond::lt, c.make(Op::and_, Type::u32, {x, y}), imm(0));
}

namespace {

/// The upper words of a wide compare: the flags are those of the lower words' difference, where no
/// carry is a borrow.
Operand extended_compare(LowerContext& c, Type type, uint64_t code, Operand x, Operand y) {
  const Operand borrow = inverse(c, c.carry());
  const Reg difference = c.reg(Width::b32), below = c.reg(Width::pred);
  c.emit(Op::subb, Type::u32, {difference, below}, {x, y, borrow});
  const auto equal = [&] {
    return both(c, compared(c, Type::u32, Cond::eq, difference, imm(0)), c.flag(Flag::zero));
  };
  const auto less = [&]() -> Operand {
    if (type == Type::u32) return below;
    return either(c, compared(c, type, Cond::lt, x, y),
                  both(c, compared(c, type, Cond::eq, x, y), borrow));
  };
  switch (code) {
    case 1:
      return less();
    case 2:
      return equal();
    case 3:
      return either(c, less(), equal());
    case 4:
      return inverse(c, either(c, less(), equal()));
    case 5:
      return inverse(c, equal());
    default:
      return inverse(c, less());
  }
}

}  // namespace

Operand integer_compare(LowerContext& c, const Instruction& i, Operand x, Operand y) {
  static constexpr Cond kConds[] = {Cond::eq, Cond::lt, Cond::eq, Cond::le,
                                    Cond::gt, Cond::ne, Cond::ge, Cond::eq};
  const uint64_t code = i.mod(ModId::cond);
  if (code == 0 || code == 7) return imm(code == 7 ? 1 : 0);
  const Type type = i.mod(ModId::signed_) != 0 ? Type::s32 : Type::u32;
  if (i.mod(ModId::x) != 0) return extended_compare(c, type, code, x, y);
  return compared(c, type, kConds[code], x, y);
}

Operand combine(LowerContext& c, uint64_t bop, Operand x, Operand y) {
  const Op op = bop == 0 ? Op::and_ : bop == 1 ? Op::or_ : Op::xor_;
  return c.make(op, Type::pred, {x, y});
}

}  // namespace lanewise::sass
