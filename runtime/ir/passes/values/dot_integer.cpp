#include "runtime/ir/passes/values/dot_integer.hpp"

#include "runtime/ir/texture.hpp"

namespace lanewise::ir {
namespace {

/// Cut to the 24 bits that an f32 has. Of a number of 24 + k bits, k at most 8, the upper k moved
/// down have no bit above the k that are cut, and have the highest of these, half of the lowest
/// kept one. Without that bit the nearest f32 lies toward zero.
Operand rounded(DotCode& code, Operand size, Operand sign, Type type, bool odd) {
  const Operand beyond = code.emit(Op::not_, Type::u32, {code.word(Op::shr, size, 24)});
  const Operand value = code.convert(Op::i2f, Type::f32, type, code.word(Op::and_, size, beyond));
  if (!odd) return code.word(Op::or_, value, sign);
  Inst back = code.inst(Op::f2i, type, {value});
  back.from = Type::f32;
  back.round = Round::rz;
  if (type == Type::s32) back.mode = static_cast<uint8_t>(ToIntMode::fits);
  const Operand lost = code.is(Cond::ne, code.emit(std::move(back)), size);
  const Operand one = code.select(lost, Operand::immediate(1), Operand::immediate(0));
  return code.word(Op::or_, code.word(Op::or_, value, one), sign);
}

}  // namespace

void CutTotal::add(DotCode& code, Operand part, bool to_second) {
  Operand& sum = to_second ? second : first;
  sum = sum.kind == Operand::Kind::none ? part : code.word(Op::add, sum, part);
}

Operand as_f32(DotCode& code, const CutTotal& total, bool odd) {
  const Operand a = total.first, b = total.second;
  if (b.kind == Operand::Kind::none) {
    const Operand negated = code.word(Op::sub, Operand::immediate(0), a);
    const Operand size = code.emit(Op::max, Type::s32, {a, negated});
    return rounded(code, size, code.word(Op::and_, a, kSignBit), Type::s32, odd);
  }
  const auto shifted = [&](Operand x, unsigned by) {
    return code.emit(Op::shr, Type::s32, {x, Operand::immediate(by)});
  };
  const Operand carry = code.word(Op::and_, code.word(Op::and_, a, b), 1);
  const Operand upper = code.word(Op::add, code.word(Op::add, shifted(a, 1), shifted(b, 1)), carry);
  const Operand negative = shifted(upper, 31), sum = code.word(Op::add, a, b);
  const Operand size = code.word(Op::sub, code.word(Op::xor_, sum, negative), negative);
  return rounded(code, size, code.word(Op::and_, negative, kSignBit), Type::u32, odd);
}

}  // namespace lanewise::ir
