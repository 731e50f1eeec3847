// A product of two factors is exact in f32. Times 2^(fraction - highest exponent), which is a power
// of two, conversion to an integer cuts it where the rule does, and integers add up exactly. What
// is infinite or no number shows in a second sum, of f32, which nothing finite makes so: of f32
// addends products are too small to matter near the largest number, and f16 sums begin anew for
// each step of the rule.
#include "runtime/ir/passes/values/dot_cut.hpp"

#include <algorithm>

#include "runtime/ir/passes/values/dot_integer.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kInfinity = 0x7f800000;

constexpr int bias_of(Element e) {
  return e == Element::e4m3 ? 7 : 15;
}

class CutSum {
 public:
  CutSum(DotCode& code, Factors& factors, const Inst& dot)
      : code_(code),
        factors_(factors),
        dot_(dot),
        rule_(dot_rule(static_cast<uint32_t>(dot.src[1].imm))),
        left_(static_cast<Element>(dot.mode & 15)),
        right_(static_cast<Element>(dot.mode >> 4)),
        half_(dot.type == Type::f16),
        in_word_(32 / bits_of(left_)),
        // Of sums of exponents as Factors has them, over exponent fields of f32.
        excess_(bias_of(left_) + bias_of(right_) - 1) {}

  Operand run() {
    make_exponents();
    return half_ ? half_sum() : single_sum();
  }

 private:
  /// Sums of exponents of two numbers that are not zero are not below.
  static constexpr uint64_t kNoZero = 128;

  Operand factor(unsigned side, unsigned word) const {
    return dot_.src[2 + side * kDotWords + word];
  }
  Operand element(unsigned side, unsigned word, unsigned i) {
    return factors_.element(factor(side, word), side == 0 ? left_ : right_, i);
  }
  /// Words of f16 share words of exponents two by two.
  void make_exponents() {
    const unsigned pairs = in_word_ == 2 ? std::min<unsigned>(rule_.total, 4) : rule_.total;
    for (unsigned i = 0; i < pairs; ++i)
      sums_.push_back(code_.word(Op::add, exponents(0, left_, i), exponents(1, right_, i)));
  }
  Operand exponents(unsigned side, Element e, unsigned i) {
    const bool second = in_word_ == 2 && i + 4 < rule_.total;
    return factors_.exponents(factor(side, i), second ? factor(side, i + 4) : Operand::immediate(0),
                              e);
  }
  Operand exponent(unsigned word, unsigned i) {
    const unsigned byte = in_word_ == 2 ? 2 * i + word / 4 : i;
    const Operand all = sums_[in_word_ == 2 ? word % 4 : word];
    if (byte == 3) return code_.word(Op::shr, all, 24);
    return code_.word(Op::and_, byte == 0 ? all : code_.word(Op::shr, all, uint64_t{byte} * 8),
                      0xff);
  }
  Operand highest_of(unsigned word, unsigned last) {
    Operand highest;
    for (unsigned w = word; w < last; ++w)
      for (unsigned i = 0; i < in_word_; ++i) {
        const Operand e = exponent(w, i);
        highest = w == word && i == 0 ? e : code_.largest(highest, e);
      }
    return highest;
  }

  bool is_last(unsigned word, unsigned i, unsigned end) const {
    return i + 1 == in_word_ && word + 1 == end;
  }
  Operand special(Operand sum) {
    return code_.is(Cond::eq, code_.word(Op::and_, sum, kInfinity), Operand::immediate(kInfinity));
  }
  uint64_t kept_bits() const { return 0xffffffff - ((uint64_t{1} << (23 - rule_.kept)) - 1); }

  Operand single_sum() {
    const Operand addend = code_.number(Op::fadd, {dot_.src[0], Operand::immediate(0)});
    Operand sum = addend, most;
    all_ = addend;
    for (unsigned word = 0; word < rule_.total; word += rule_.words) {
      const unsigned last = std::min<unsigned>(word + rule_.words, rule_.total);
      const Operand highest = highest_of(word, last);
      most = word == 0 ? highest : code_.largest(most, highest);
      sum = step(sum, code_.word(Op::and_, sum, kInfinity), highest, word, last);
    }
    // Where all products are zero the addend, which may be too small for the scale, is the sum.
    const Operand zero = code_.is(Cond::lt, most, Operand::immediate(kNoZero));
    const Operand kept = code_.word(Op::and_, addend, kept_bits());
    return code_.select(special(all_), all_, code_.select(zero, kept, sum));
  }

  /// One sum of the rule: `c` with its exponent, in the place that it has in an f32, and the words
  /// from `word` on, whose highest exponent is `highest`.
  Operand step(Operand c, Operand exponent, Operand highest, unsigned word, unsigned last) {
    const unsigned fraction = rule_.fraction;
    const auto at = [](int field) { return static_cast<uint64_t>(field) << 23 & 0xffffffff; };
    const auto larger = [&](Operand a, Operand b) {
      return code_.emit(Op::max, Type::s32, {a, b});
    };
    const Operand products = code_.word(Op::add, code_.word(Op::shl, highest, 23), at(-excess_));
    // The least one keeps both scales in the range of f32.
    const Operand top =
        larger(larger(products, exponent), Operand::immediate(at(static_cast<int>(fraction) + 1)));
    const Operand up =
        code_.word(Op::sub, Operand::immediate(at(254 + static_cast<int>(fraction))), top);
    const Operand down = code_.word(Op::sub, top, at(static_cast<int>(fraction)));
    const bool two = needs_two_words((last - word) * in_word_, fraction);
    CutTotal total{cut(c, up), {}};
    for (unsigned w = word; w < last; ++w)
      for (unsigned i = 0; i < in_word_; ++i) {
        const Operand product = code_.number(Op::fmul, {element(0, w, i), element(1, w, i)});
        total.add(code_, cut(product, up), two && w - word >= (last - word) / 2);
        add_to_all(product, is_last(w, i, half_ ? last : rule_.total));
      }
    const Operand value = as_f32(code_, total, half_);
    const Operand scaled = code_.number(Op::fmul, {value, down});
    return half_ ? scaled : code_.word(Op::and_, scaled, kept_bits());
  }
  Operand cut(Operand x, Operand up) {
    return code_.convert(Op::f2i, Type::s32, Type::f32, code_.number(Op::fmul, {x, up}));
  }
  void add_to_all(Operand product, bool last) {
    const std::vector<Operand> src{all_, product};
    all_ = last ? code_.emit(Op::fadd, Type::f32, src) : code_.number(Op::fadd, src);
  }

  Operand half_sum() {
    Operand sum = dot_.src[0];
    for (unsigned word = 0; word < rule_.total; word += rule_.words)
      sum = half_step(sum, word, std::min<unsigned>(word + rule_.words, rule_.total));
    return sum;
  }
  Operand half_step(Operand c, unsigned word, unsigned last) {
    all_ = code_.widened(c);
    const Operand wide = all_;
    // Subnormal f16 have the exponent of the least normal one.
    const Operand bits = code_.largest(code_.word(Op::and_, wide, kInfinity),
                                       Operand::immediate(uint64_t{113} << 23));
    const Operand zero =
        code_.is(Cond::eq, code_.word(Op::and_, wide, 0x7fffffff), Operand::immediate(0));
    const Operand sum = step(wide, code_.select(zero, Operand::immediate(0), bits),
                             highest_of(word, last), word, last);
    return code_.convert(Op::f2f, Type::f16, Type::f32, code_.select(special(all_), all_, sum));
  }

  DotCode& code_;
  Factors& factors_;
  const Inst& dot_;
  DotRule rule_;
  Element left_, right_;
  bool half_;
  unsigned in_word_;
  int excess_;
  std::vector<Operand> sums_;  ///< of exponents
  Operand all_;                ///< the sum by f32 so far, which shows infinities and NaN
};

}  // namespace

Operand cut_sum(DotCode& code, Factors& factors, const Inst& dot) {
  return CutSum(code, factors, dot).run();
}

}  // namespace lanewise::ir
