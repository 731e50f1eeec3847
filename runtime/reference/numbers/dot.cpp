#include "runtime/reference/numbers/dot.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/reference/numbers/float_ops.hpp"
#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference {
namespace {

using ir::Element;

struct FactorFormat {
  unsigned fraction, exponent;  ///< bits
  bool infinite;                ///< the highest exponent has infinities; else one NaN alone
};
constexpr FactorFormat kSingle{23, 8, true};

constexpr FactorFormat factor_format(Element e) {
  switch (e) {
    case Element::f16:
      return {10, 5, true};
    case Element::bf16:
      return {7, 8, true};
    case Element::e4m3:
      return {3, 4, false};
    case Element::e5m2:
      return {2, 5, true};
    default:
      return {10, 8, true};  // tf32, below 13 bits that do not count
  }
}

/// significand * 2^(exponent - fraction), where it is finite. What is no number has the significand
/// 0 and an exponent above all others.
struct Part {
  int64_t significand = 0;
  int exponent = 0;
  bool negative = false, infinite = false, nan = false;
  bool finite() const { return !infinite && !nan; }
};

Part part_of(uint32_t bits, const FactorFormat& f) {
  const unsigned top = (1U << f.exponent) - 1, mask = (1U << f.fraction) - 1;
  const unsigned exponent = bits >> f.fraction & top, fraction = bits & mask;
  const int bias = static_cast<int>(top >> 1);
  Part p;
  p.negative = (bits >> (f.fraction + f.exponent) & 1) != 0;
  if (exponent == top && (f.infinite || fraction == mask)) {
    p.nan = !f.infinite || fraction != 0;
    p.infinite = !p.nan;
    return p;
  }
  p.significand = fraction | (exponent != 0 ? mask + 1 : 0);
  if (p.negative) p.significand = -p.significand;
  p.exponent = std::max(static_cast<int>(exponent), 1) - bias;
  return p;
}

uint32_t element(const DotWords& words, Element e, unsigned i) {
  const unsigned bits = ir::bits_of(e), in_word = 32 / bits;
  const uint32_t word = words[i / in_word] >> i % in_word * bits;
  if (e == Element::tf32) return word >> 13;
  return word & ((1U << bits) - 1);
}

int64_t integer(const DotWords& words, Element e, unsigned i) {
  const auto value = static_cast<int64_t>(element(words, e, i));
  const unsigned bits = ir::bits_of(e);
  const bool is_signed = e == Element::s8 || e == Element::s4;
  return is_signed && (value >> (bits - 1)) != 0 ? value - (int64_t{1} << bits) : value;
}

unsigned count(Element e, ir::DotRule rule) {
  return rule.total * 32U / ir::bits_of(e);
}

/// What is added: significand * 2^(exponent - fraction).
struct Term {
  int64_t significand;
  int exponent;
  unsigned fraction;
};

class Sum {
 public:
  Sum(ir::DotRule rule, bool half) : rule_(rule), half_(half) {}

  void add(const Part& p, unsigned fraction) {
    if (!p.finite()) return special(p.nan, p.negative);
    add(Term{p.significand, p.exponent, fraction});
  }
  void add_product(const Part& a, const Part& b, unsigned fraction) {
    if (a.finite() && b.finite())
      return add(Term{a.significand * b.significand, a.exponent + b.exponent, fraction});
    const bool zero = (a.finite() && a.significand == 0) || (b.finite() && b.significand == 0);
    special(a.nan || b.nan || zero, a.negative != b.negative);
  }

  uint32_t result() const {
    if (nan_ || (infinite_[0] && infinite_[1])) return half_ ? 0x7fff : 0x7fffffff;
    if (infinite_[0] || infinite_[1]) return infinity(infinite_[1]);
    int64_t total = 0;
    for (unsigned i = 0; i < size_; ++i) {
      const Term& t = terms_[i];
      const int shift = rule_.fraction - static_cast<int>(t.fraction) - (highest_ - t.exponent);
      total += shift >= 0 ? t.significand * (int64_t{1} << shift)
                          : t.significand / (int64_t{1} << std::min(-shift, 62));
    }
    return total == 0 ? 0 : rounded(total < 0, static_cast<uint64_t>(total < 0 ? -total : total));
  }

 private:
  void add(const Term& term) {
    if (term.significand == 0) return;
    highest_ = std::max(highest_, term.exponent);
    terms_[size_++] = term;
  }
  void special(bool nan, bool negative) {
    nan_ = nan_ || nan;
    if (!nan) infinite_[negative ? 1 : 0] = true;
  }
  uint32_t infinity(bool negative) const {
    return half_ ? (negative ? 0xfc00 : 0x7c00) : (negative ? 0xff800000 : 0x7f800000);
  }
  /// magnitude * 2^(highest - fraction): the nearest half, or the upper bits of an f32.
  uint32_t rounded(bool negative, uint64_t magnitude) const {
    const Number sum{Number::Class::finite, negative, highest_ - rule_.fraction, magnitude};
    if (half_) return static_cast<uint32_t>(pack(kF16, sum, ir::Round::rn));
    if (sum.exp + static_cast<int>(std::bit_width(magnitude)) - 1 > kF32.bias)
      return infinity(negative);
    const uint32_t dropped = (1U << (23 - rule_.kept)) - 1;
    return static_cast<uint32_t>(pack(kF32, sum, ir::Round::rz)) & ~dropped;
  }

  ir::DotRule rule_;
  bool half_;
  bool nan_ = false, infinite_[2] = {false, false};
  int highest_ = std::numeric_limits<int>::min();
  unsigned size_ = 0;
  std::array<Term, 33> terms_{};
};

/// The words from `word` on.
uint32_t sum_of(ir::Type type, Element left, Element right, ir::DotRule rule, unsigned word,
                uint32_t c, const DotWords& a, const DotWords& b) {
  const bool half = type == ir::Type::f16;
  const FactorFormat x = factor_format(left), y = factor_format(right),
                     z = half ? factor_format(Element::f16) : kSingle;
  Sum sum(rule, half);
  sum.add(part_of(c, z), z.fraction);
  const unsigned in_word = 32 / ir::bits_of(left);
  const unsigned last = std::min<unsigned>(word + rule.words, rule.total) * in_word;
  for (unsigned i = word * in_word; i < last; ++i)
    sum.add_product(part_of(element(a, left, i), x), part_of(element(b, right, i), y),
                    x.fraction + y.fraction);
  return sum.result();
}

/// The f32 with the value of an element.
uint32_t as_f32(const DotWords& words, Element e, unsigned i) {
  const uint32_t bits = element(words, e, i);
  if (e == Element::tf32) return bits << 13;
  if (e == Element::bf16) return bits << 16;
  const FactorFormat f = factor_format(e);
  const Part p = part_of(bits, f);
  const uint32_t sign = p.negative ? 0x80000000 : 0;
  if (!p.finite()) return p.nan ? 0x7fffffff : sign | 0x7f800000;
  const float value =
      std::ldexp(static_cast<float>(p.significand), p.exponent - static_cast<int>(f.fraction));
  return std::bit_cast<uint32_t>(value) | sign;
}

uint32_t chain(ir::Type type, Element left, Element right, ir::DotRule rule, uint32_t c,
               const DotWords& a, const DotWords& b) {
  const bool half = type == ir::Type::f16;
  uint64_t sum = half ? float_to_float(ir::Type::f32, ir::Type::f16, {}, c) : c;
  for (unsigned i = 0; i < count(left, rule); ++i)
    sum = float_op(ir::Op::ffma, ir::Type::f32, {}, as_f32(a, left, i), as_f32(b, right, i), sum);
  return static_cast<uint32_t>(half ? float_to_float(ir::Type::f16, ir::Type::f32, {}, sum) : sum);
}

}  // namespace

uint32_t dot(ir::Type type, uint8_t mode, ir::DotRule rule, bool saturate, uint32_t c,
             const DotWords& a, const DotWords& b) {
  const auto left = static_cast<Element>(mode & 15), right = static_cast<Element>(mode >> 4);
  if (type == ir::Type::s32) {
    int64_t sum = static_cast<int32_t>(c);
    for (unsigned i = 0; i < count(left, rule); ++i)
      sum += integer(a, left, i) * integer(b, right, i);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    return static_cast<uint32_t>(saturate ? std::clamp(sum, -kMost - 1, kMost) : sum);
  }
  if (rule.fraction == 0) return chain(type, left, right, rule, c, a, b);
  for (unsigned word = 0; word < rule.total; word += rule.words)
    c = sum_of(type, left, right, rule, word, c, a, b);
  return c;
}

}  // namespace lanewise::reference
