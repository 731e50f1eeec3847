// 32-bit multiplication: either half of the product, with an addend.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

/// All 64 bits of the product; each factor has its own sign.
Operand product(LowerContext& c, const Instruction& i) {
  const uint64_t signs = i.mod(ModId::signs);
  const auto factor = [&](Role role, bool is_signed) {
    const Reg wide = c.reg(Width::b64);
    c.emit(is_signed ? Op::sext64 : Op::zext64, is_signed ? Type::s64 : Type::u64, {wide},
           {c.raw(i, role)});
    return Operand(wide);
  };
  return c.make(Op::mul, Type::u64,
                {factor(Role::a, (signs & 1) != 0), factor(Role::b, (signs & 2) != 0)});
}

Operand half(LowerContext& c, Operand x, bool high) {
  const auto [low, up] = c.unpack(x);
  return high ? up : low;
}

}  // namespace

void lower_imul(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "IMUL with .CC is not documented");
  const Operand r = half(c, product(c, i), i.mod(ModId::parts) != 0);
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {r});
}

/// As mad.lo, mad.hi and their carries are defined in PTX, which these forms were made for.
void lower_imad(LowerContext& c, const Instruction& i) {
  const bool high = i.mod(ModId::parts) != 0, extended = i.mod(ModId::x) != 0;
  const bool saturates = i.mod(ModId::sat) != 0;
  const bool minus_product = c.negated(i, Role::a), minus_addend = c.negated(i, Role::c);
  const bool plus_one = i.form->mod(ModId::plus) != nullptr;
  refuse(plus_one && (saturates || extended || c.has_cc(i)),
         "IMAD.PO with .SAT, .X or .CC is not documented");
  refuse(saturates && (!high || i.mod(ModId::signs) != 3 || extended || c.has_cc(i)),
         "IMAD.SAT is known for the upper half of a signed product only");
  refuse((extended || c.has_cc(i)) && (minus_product || minus_addend),
         "IMAD with .X or .CC of a negated term is not documented");
  Operand x = product(c, i);
  if (minus_product) x = c.make(Op::neg, Type::s64, {x});
  const Operand term = half(c, x, high);
  Operand addend = c.raw(i, Role::c);
  if (minus_addend) addend = c.make(Op::neg, Type::s32, {addend});
  if (!saturates)
    return add_into(c, i, term, addend, extended ? Operand(c.carry()) : imm(plus_one ? 1 : 0));
  const auto wide = [&](Operand v) { return Operand(c.make(Op::sext64, Type::s64, {v})); };
  refuse(minus_addend, "IMAD.SAT of a negated addend is not documented");
  Operand sum = c.make(Op::add, Type::s64, {wide(term), wide(addend)});
  sum = c.make(Op::min, Type::s64, {sum, imm(0x7fffffff)});
  sum = c.make(Op::max, Type::s64, {sum, imm(0xffffffff80000000)});
  c.emit(Op::trunc32, Type::u32, {c.destination(i)}, {sum});
}

}  // namespace lanewise::sass
