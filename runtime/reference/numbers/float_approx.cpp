// The operations that PTX calls approximate, step by step as the shader library computes them
// (shaders/lib/numbers/approx.glsl), so that devices whose sums, products and quotients round to
// nearest give the same bits. Every step is one f32 operation; the host compiler may not fuse them.
#include <bit>
#include <cmath>

#include "runtime/reference/numbers/float_ops.hpp"
#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;
using ir::Round;
using ir::Type;

float as_float(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
uint64_t bits_of(float x) {
  return std::bit_cast<uint32_t>(x);
}
Number number(float x) {
  return unpack(kF32, bits_of(x));
}

/// Horner's rule from the highest coefficient down.
template <size_t N>
float polynomial(const float (&coefficients)[N], float x) {
  float sum = coefficients[0];
  for (size_t i = 1; i < N; ++i) sum = sum * x + coefficients[i];
  return sum;
}

Number infinity(bool sign) {
  return {Number::Class::inf, sign, 0, 0};
}
constexpr Number kNan = {Number::Class::nan, false, 0, 0};

/// 2^x, not rounded after its last product: the caller rounds to the format it wants.
Number exp2_of(float x) {
  if (std::isnan(x)) return kNan;
  if (std::abs(x) > 160.0F) return x < 0 ? Number{} : infinity(false);
  if (std::abs(x) < 0x1p-25F) x = 0;
  const float whole = (x + 12582912.0F) - 12582912.0F;
  static constexpr float kTerms[] = {1.5252734e-5F, 1.5403530e-4F, 1.3333558e-3F, 9.6181291e-3F,
                                     5.5504109e-2F, 2.4022651e-1F, 6.9314718e-1F, 1.0F};
  Number result = number(polynomial(kTerms, x - whole));
  result.exp += static_cast<int>(whole);
  return result;
}

Number log2_of(float x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return infinity(true);
  if (std::isinf(x)) return infinity(false);
  int exponent = 0;
  float m = 2 * std::frexp(x, &exponent);  // 1 .. 2
  --exponent;
  // The bound is a number of 32 bits; an f32 mantissa lies on one side of it or the other.
  if (static_cast<double>(m) * 0x1p31 > 0xb504f333U) {
    m /= 2;
    ++exponent;
  }
  const float s = (m - 1.0F) / (m + 1.0F), z = s * s;
  static constexpr float kTerms[] = {0.32059888F, 0.41219859F, 0.57707802F, 0.96179669F,
                                     2.8853901F};
  return number(polynomial(kTerms, z) * s + static_cast<float>(exponent));
}

struct Angle {
  float rest = 0;         ///< within +-pi/4
  unsigned quadrant = 0;  ///< of a quarter turn each
};

/// The fraction of x * 2/pi, from the bits of 2/pi that matter for this exponent.
Angle reduce(float x) {
  const auto bits = static_cast<uint32_t>(bits_of(x));
  if ((bits & 0x7fffffff) <= 0x3f490fdb) return {x, 0};
  static constexpr uint32_t kTwoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                            0xdb629599, 0x3c439041, 0xfe5163ab};
  const int e = static_cast<int>(bits >> 23 & 0xff) - 150;
  const uint32_t m = (bits & 0x7fffff) | 0x800000;
  const unsigned skip = e > 2 ? static_cast<unsigned>(e - 2) : 0;  // these count multiples of 4
  u128 digits = 0;
  for (unsigned i = 0; i < 3; ++i) {
    const uint64_t pair = uint64_t{kTwoOverPi[skip / 32 + i]} << 32 | kTwoOverPi[skip / 32 + i + 1];
    digits = digits << 32 | static_cast<uint32_t>(pair >> (32 - skip % 32));
  }
  const u128 product = digits * m;                                           // 120 bits
  const auto top = static_cast<uint64_t>(product >> (34 - std::min(e, 2)));  // whole turns fall off
  const uint64_t rounded = top + (uint64_t{1} << 61);
  unsigned quadrant = static_cast<unsigned>(rounded >> 62);
  const auto rest = static_cast<int64_t>(top - (uint64_t{quadrant} << 62));
  const bool negative = rest < 0;
  const u128 size = negative ? -static_cast<uint64_t>(rest) : static_cast<uint64_t>(rest);
  float fraction = 0;
  if (size != 0)
    fraction = as_float(pack(kF32, {Number::Class::finite, negative, -62, size}, Round::rn));
  if (x < 0) {
    fraction = -fraction;
    quadrant = (0U - quadrant) & 3;
  }
  return {fraction * 1.57079637F, quadrant};
}

/// sin(x + turn * pi/2)
Number sine_of(float x, unsigned turn) {
  if (std::isnan(x) || std::isinf(x)) return kNan;
  if (turn == 0 && std::abs(x) < 0x1p-13F) return number(x);
  const auto [r, quarter] = reduce(x);
  const unsigned quadrant = (quarter + turn) & 3;
  const float z = std::abs(r) < 0x1p-63F ? 0.0F : r * r;
  static constexpr float kSine[] = {2.7557319e-6F, -1.9841270e-4F, 8.3333333e-3F, -1.6666667e-1F};
  static constexpr float kCosine[] = {2.4801587e-5F, -1.3888889e-3F, 4.1666667e-2F, -0.5F, 1.0F};
  const float y = (quadrant & 1) == 0 ? polynomial(kSine, z) * z * r + r : polynomial(kCosine, z);
  return number((quadrant & 2) != 0 ? -y : y);
}

Number tanh_of(float x) {
  if (std::isnan(x)) return kNan;
  const float size = std::abs(x);
  float y = 1;
  if (size < 0x1p-13F) {
    y = size;
  } else if (size < as_float(0x3f0ccccd)) {
    const float z = size * size;
    static constexpr float kTerms[] = {0.021869489F, -0.053968254F, 0.13333333F, -0.33333333F};
    y = polynomial(kTerms, z) * z * size + size;
  } else if (size < 9.5F) {
    const float power = as_float(pack(kF32, exp2_of(size * 2.8853901F), Round::rn));
    y = 1.0F - 2.0F / (power + 1.0F);
  }
  return number(std::copysign(y, x));
}

/// The root is rounded before it divides.
uint64_t reciprocal_root(Type type, uint64_t a) {
  const Format& f = format_of(type);
  const Format& between = type == Type::f64 ? kF64 : kF32;
  const uint64_t root = pack(between, square_root(unpack(f, a)), Round::rn);
  return pack(f, divide(unpack(f, f.one()), unpack(between, root)), Round::rn);
}

Number evaluate(Op op, float x) {
  switch (op) {
    case Op::fex2_approx:
      return exp2_of(x);
    case Op::flg2_approx:
      return log2_of(x);
    case Op::fsin_approx:
      return sine_of(x, 0);
    case Op::fcos_approx:
      return sine_of(x, 1);
    default:
      return tanh_of(x);
  }
}

}  // namespace

uint64_t approximate(Op op, Type type, uint64_t a) {
  if (op == Op::frsqrt_approx) return reciprocal_root(type, a);
  const Format& f = format_of(type);
  const float x = as_float(pack(kF32, unpack(f, a), Round::rn));
  return pack(f, evaluate(op, x), Round::rn);
}

}  // namespace lanewise::reference
