// The sum of dot_cut.cpp for factors with the exponents of f32: products of their significands are
// below 4, and each gets the power of two that its exponent lies below the highest one. What is
// infinite or no number stays in the place of its significand, and shows in the sum of products.
#include <algorithm>

#include "runtime/ir/passes/values/dot_cut.hpp"
#include "runtime/ir/passes/values/dot_integer.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kExponent = 0x7f800000, kOne = 0x3f800000;
/// Sums of exponents as Factors has them, over exponents, and over exponent fields of f32.
constexpr uint64_t kExcess = 1276, kFieldExcess = kExcess - 127;

class WideSum {
 public:
  WideSum(DotCode& code, Factors& factors, const Inst& dot)
      : code_(code),
        factors_(factors),
        dot_(dot),
        rule_(dot_rule(static_cast<uint32_t>(dot.src[1].imm))),
        type_(static_cast<Element>(dot.mode & 15)) {}

  Operand run() {
    Operand sum = dot_.src[0];
    for (unsigned word = 0; word < rule_.total; word += rule_.words)
      sum = step(sum, word, std::min<unsigned>(word + rule_.words, rule_.total));
    return sum;
  }

 private:
  struct Product {
    Operand significand, exponent;
  };

  Operand masked(Operand x, uint64_t bits) { return code_.word(Op::and_, x, bits); }
  Operand is_zero(Operand x) { return code_.is(Cond::eq, x, Operand::immediate(0)); }

  /// From 1 to below 2, of subnormal numbers below 1, with the sign; what is no finite number as it
  /// is.
  Operand significand(Operand x) {
    const Operand field = masked(x, kExponent);
    const Operand more = code_.word(Op::or_, masked(x, 0x807fffff), kOne);
    const Operand excess =
        code_.select(is_zero(field), Operand::immediate(kOne), Operand::immediate(0));
    const Operand finite =
        code_.number(Op::fsub, {more, code_.word(Op::or_, excess, masked(x, kSignBit))});
    return code_.select(code_.is(Cond::eq, field, Operand::immediate(kExponent)), x, finite);
  }

  Product product(unsigned word, unsigned i) {
    Operand parts[2], exponents[2];
    for (unsigned side = 0; side < 2; ++side) {
      const Operand w = dot_.src[2 + side * kDotWords + word];
      parts[side] = significand(factors_.element(w, type_, i));
      exponents[side] = factors_.exponents(w, Operand::immediate(0), type_);
    }
    Operand exponent = code_.word(Op::add, exponents[0], exponents[1]);
    if (type_ == Element::bf16)
      exponent = i == 0 ? masked(exponent, 0xffff) : code_.word(Op::shr, exponent, 16);
    return {code_.number(Op::fmul, {parts[0], parts[1]}), exponent};
  }
  Product addend(Operand c) {
    const Operand field =
        code_.largest(masked(code_.word(Op::shr, c, 23), 0xff), Operand::immediate(1));
    const Operand exponent = code_.select(is_zero(masked(c, 0x7fffffff)), Operand::immediate(0),
                                          code_.word(Op::add, field, kFieldExcess));
    return {significand(c), exponent};
  }

  Operand step(Operand c, unsigned word, unsigned last) {
    std::vector<Product> terms{addend(c)};
    for (unsigned w = word; w < last; ++w)
      for (unsigned i = 0; i < 32 / bits_of(type_); ++i) terms.push_back(product(w, i));
    Operand highest = terms[0].exponent, all = terms[0].significand;
    for (size_t i = 1; i < terms.size(); ++i) {
      highest = code_.largest(highest, terms[i].exponent);
      const std::vector<Operand> src{all, terms[i].significand};
      all =
          i + 1 < terms.size() ? code_.number(Op::fadd, src) : code_.emit(Op::fadd, Type::f32, src);
    }
    const unsigned fraction = rule_.fraction;
    const bool two = needs_two_words(static_cast<unsigned>(terms.size()) - 1, fraction);
    CutTotal total;
    for (size_t i = 0; i < terms.size(); ++i) {
      const Operand below = code_.word(Op::sub, terms[i].exponent, highest);
      const Operand field = code_.emit(
          Op::max, Type::s32, {code_.word(Op::add, below, 127 + fraction), Operand::immediate(0)});
      const Operand scaled =
          code_.number(Op::fmul, {terms[i].significand, code_.word(Op::shl, field, 23)});
      total.add(code_, code_.convert(Op::f2i, Type::s32, Type::f32, scaled),
                two && i > terms.size() / 2);
    }
    const Operand sum = scaled_down(as_f32(code_, total, false), highest);
    const Operand special =
        code_.is(Cond::eq, masked(all, kExponent), Operand::immediate(kExponent));
    return code_.select(special, all, sum);
  }

  /// Times 2^(highest - fraction), cut where it is subnormal.
  Operand scaled_down(Operand value, Operand highest) {
    const Operand by = code_.word(Op::sub, highest, Operand::immediate(kExcess + rule_.fraction));
    const Operand size = masked(value, 0x7fffffff), sign = masked(value, kSignBit);
    const Operand field = code_.word(Op::add, code_.word(Op::shr, size, 23), by);
    const Operand normal = code_.word(Op::add, size, code_.word(Op::shl, by, 23));
    const Operand down =
        code_.emit(Op::min, Type::s32,
                   {code_.word(Op::sub, Operand::immediate(1), field), Operand::immediate(31)});
    const Operand bits = code_.word(Op::or_, masked(size, 0x7fffff), 0x800000);
    const Operand small = code_.word(Op::shr, bits, masked(down, 31));
    const auto below = [&](uint64_t limit) {
      Inst i = code_.inst(Op::icmp, Type::s32, {field, Operand::immediate(limit)});
      i.cond = Cond::lt;
      return code_.emit(std::move(i), Width::pred);
    };
    Operand result = code_.select(below(255), normal, Operand::immediate(kExponent));
    result = code_.select(below(1), small, result);
    result = code_.select(is_zero(size), Operand::immediate(0), result);
    return code_.word(Op::or_, result, sign);
  }

  DotCode& code_;
  Factors& factors_;
  const Inst& dot_;
  DotRule rule_;
  Element type_;
};

}  // namespace

Operand wide_sum(DotCode& code, Factors& factors, const Inst& dot) {
  return WideSum(code, factors, dot).run();
}

}  // namespace lanewise::ir
