// Float operations of f32 and f64 that the host's unit computes as docs/numerics.md wants them: to
// nearest even, any NaN made the canonical one afterwards. For callers that know the operation when
// they are compiled; see ir/integer_inline.hpp. The tests compare all of it with soft_float.
#pragma once

#include <cstdint>

#include "runtime/ir/integer_inline.hpp"
#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference::host {

template <typename Bits>
struct Host;
template <>
struct Host<uint32_t> {
  using Real = float;
  static constexpr Format format = kF32;
  LANEWISE_INLINE static float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  LANEWISE_INLINE static float sqrt(float a) { return __builtin_sqrtf(a); }
  LANEWISE_INLINE static float trunc(float a) { return __builtin_truncf(a); }
  LANEWISE_INLINE static float floor(float a) { return __builtin_floorf(a); }
  LANEWISE_INLINE static float ceil(float a) { return __builtin_ceilf(a); }
  LANEWISE_INLINE static float nearest(float a) { return __builtin_rintf(a); }
};
template <>
struct Host<uint64_t> {
  using Real = double;
  static constexpr Format format = kF64;
  LANEWISE_INLINE static double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
  LANEWISE_INLINE static double sqrt(double a) { return __builtin_sqrt(a); }
  LANEWISE_INLINE static double trunc(double a) { return __builtin_trunc(a); }
  LANEWISE_INLINE static double floor(double a) { return __builtin_floor(a); }
  LANEWISE_INLINE static double ceil(double a) { return __builtin_ceil(a); }
  LANEWISE_INLINE static double nearest(double a) { return __builtin_rint(a); }
};

template <typename Bits>
LANEWISE_INLINE typename Host<Bits>::Real real(Bits v) {
  return __builtin_bit_cast(typename Host<Bits>::Real, v);
}
/// The number's bits, those of the canonical NaN for any.
template <typename Bits>
LANEWISE_INLINE Bits bits_of(typename Host<Bits>::Real r) {
  const Bits bits = __builtin_bit_cast(Bits, r);
  return r != r ? static_cast<Bits>(Host<Bits>::format.nan) : bits;
}

/// Zero of the same sign for subnormal values of f32.
template <typename Bits>
LANEWISE_INLINE Bits flush(Bits a) {
  if constexpr (sizeof(Bits) == 4)
    return (a & 0x7f800000) == 0 ? a & 0x80000000 : a;
  else
    return a;
}

/// Zero of the result's sign where a product, a b + c or a quotient rounds below the normal numbers
/// of f32 with an exponent of any size: `scaled` is 2^32 times as large.
LANEWISE_INLINE uint32_t flush_scaled(uint32_t r, float scaled) {
  return __builtin_fabsf(scaled) < 0x1p-94F ? r & 0x80000000 : r;
}

/// fadd fsub fmul ffma fdiv frcp fsqrt, and the _approx forms of the last three.
template <typename Bits>
LANEWISE_INLINE Bits arithmetic(ir::Op op, Bits a, Bits b, Bits c) {
  using H = Host<Bits>;
  using Real = typename H::Real;
  const Real x = real(a), y = real(b);
  switch (op) {
    case ir::Op::fadd:
      return bits_of<Bits>(x + y);
    case ir::Op::fsub:
      return bits_of<Bits>(x - y);
    case ir::Op::fmul:
      return bits_of<Bits>(x * y);
    case ir::Op::ffma:
      return bits_of<Bits>(H::fma(x, y, real(c)));
    case ir::Op::fdiv:
    case ir::Op::fdiv_approx:
      return bits_of<Bits>(x / y);
    case ir::Op::frcp:
    case ir::Op::frcp_approx:
      return bits_of<Bits>(Real{1} / x);
    default:
      return bits_of<Bits>(H::sqrt(x));
  }
}

/// A NaN operand loses; two give the canonical NaN, as one does when it wins. -0 < +0.
template <typename Bits>
LANEWISE_INLINE Bits min_max(bool max, bool nan_wins, Bits a, Bits b) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr auto kNan = static_cast<Bits>(Host<Bits>::format.nan);
  using Int = std::make_signed_t<Bits>;
  const bool a_nan = real(a) != real(a), b_nan = real(b) != real(b);
  // In an order that compares like the numbers: the others' magnitude counts downwards.
  const auto x = static_cast<Int>((a & kSign) != 0 ? ~(a & ~kSign) : a);
  const auto y = static_cast<Int>((b & kSign) != 0 ? ~(b & ~kSign) : b);
  const Bits chosen = (x < y) != max ? a : b;
  const Bits one = a_nan ? b : a;
  const Bits with_nan = nan_wins || (a_nan && b_nan) ? kNan : one;
  return a_nan || b_nan ? with_nan : chosen;
}

/// To an integral value; not for ties away from zero.
template <typename Bits>
LANEWISE_INLINE typename Host<Bits>::Real integral(ir::Round round, typename Host<Bits>::Real x) {
  using H = Host<Bits>;
  switch (round) {
    case ir::Round::rz:
      return H::trunc(x);
    case ir::Round::rm:
      return H::floor(x);
    case ir::Round::rp:
      return H::ceil(x);
    default:
      return H::nearest(x);
  }
}

/// To u32 or s32, which clamp; NaN is 0 from f32, 2^31 from f64.
template <typename Bits, bool is_signed>
LANEWISE_INLINE uint32_t to_integer(ir::Round round, Bits a) {
  using Real = typename Host<Bits>::Real;
  constexpr Real kLeast = is_signed ? Real{-2147483648.0} : Real{0};
  constexpr Real kEnd = is_signed ? Real{2147483648.0} : Real{4294967296.0};
  constexpr uint32_t kMost = is_signed ? 0x7fffffff : 0xffffffff;
  constexpr uint32_t kNan = sizeof(Bits) == 8 ? 0x80000000 : 0;
  const Real x = integral<Bits>(round, real(a));
  const bool inside = x > kLeast && x < kEnd;
  const auto value = static_cast<uint32_t>(static_cast<int64_t>(inside ? x : Real{0}));
  const uint32_t outside = x <= kLeast ? (is_signed ? 0x80000000 : 0) : kMost;
  return x != x ? kNan : inside ? value : outside;
}

/// From an integer of 32 or 64 bits.
template <typename Bits, typename Int>
LANEWISE_INLINE Bits from_integer(Int a) {
  return __builtin_bit_cast(Bits, static_cast<typename Host<Bits>::Real>(a));
}

/// f32 to f64 and back, or a NaN made canonical.
template <typename To, typename From>
LANEWISE_INLINE To resize(From a) {
  return bits_of<To>(static_cast<typename Host<To>::Real>(real(a)));
}

/// Which of the four a pair is: bit 0 less, 1 equal, 2 greater, 3 unordered.
template <typename Bits>
LANEWISE_INLINE uint32_t order(Bits a, Bits b) {
  const auto x = real(a), y = real(b);
  return (x < y ? 1U : 0U) | (x == y ? 2U : 0U) | (x > y ? 4U : 0U) | (x != x || y != y ? 8U : 0U);
}

/// The bits of order() for which a condition holds.
LANEWISE_INLINE uint32_t truth(ir::Cond cond) {
  constexpr uint8_t kTables[] = {2, 5, 1, 3, 4, 6, 10, 13, 9, 11, 12, 14, 7, 8};
  return kTables[static_cast<int>(cond)];
}

}  // namespace lanewise::reference::host
