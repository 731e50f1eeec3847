// What oracles are written with: bit patterns, rounding directions of the host, the one NaN of each
// type (docs/numerics.md), flushing and saturation.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace values {

inline float f32_of(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}
inline double f64_of(uint64_t u) {
  double x;
  std::memcpy(&x, &u, 8);
  return x;
}
inline uint32_t raw(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}
inline uint64_t raw(double x) {
  uint64_t u;
  std::memcpy(&u, &x, 8);
  return u;
}
inline uint64_t wide(uint32_t low, uint32_t high) {
  return uint64_t{high} << 32 | low;
}

inline constexpr uint32_t kNaN32 = 0x7fffffff, kNaN16 = 0x7fff;
inline constexpr uint64_t kNaN64 = 0xfff8000000000000;

/// The bits of a computed result: any NaN is the one NaN.
inline uint32_t bits(float x) {
  return std::isnan(x) ? kNaN32 : raw(x);
}
inline uint64_t bits(double x) {
  return std::isnan(x) ? kNaN64 : raw(x);
}

/// A subnormal number becomes a zero of its sign.
inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}
inline float flushed(float x, bool ftz) {
  return ftz ? flushed(x) : x;
}
/// A float computed in the host's direction, f(1): a zero where it were below the normal numbers if
/// exponents had no end, as f(k), the same operation k times as large, shows.
template <typename F>
float flushed_result(F f, bool ftz) {
  const volatile float rounded = f(1.0F), larger = f(0x1p64F);
  const bool tiny = std::fabs(rounded) <= 0x1p-126F && std::fabs(larger) < 0x1p-62F;
  return ftz && tiny ? std::copysign(0.0F, rounded) : float{rounded};
}
/// NaN, negative numbers and -0 give +0, more than 1 gives 1.
template <typename T>
T saturated(T x) {
  return x > 0 ? (x < 1 ? x : T{1}) : T{0};
}

/// While it lives, the host rounds in this direction: FE_TONEAREST, FE_DOWNWARD, FE_UPWARD,
/// FE_TOWARDZERO. Compiled with -frounding-math.
class Rounding {
 public:
  explicit Rounding(int direction) : before_(std::fegetround()) { std::fesetround(direction); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

inline double f16_to_double(uint32_t h) {
  const double sign = (h & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(h >> 10 & 31), fraction = static_cast<int>(h & 0x3ff);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}
/// A double rounded once to half precision, in the host's direction.
inline uint32_t f16_bits(double x) {
  if (std::isnan(x)) return kNaN16;
  const uint32_t sign = std::signbit(x) ? 0x8000U : 0U;
  if (std::isinf(x)) return sign | 0x7c00;
  if (x == 0) return sign;
  const int exponent = std::max(std::ilogb(x), -14);  // below, the unit stays 2^-24
  const double units = std::nearbyint(std::ldexp(x, 10 - exponent));
  const double value = std::ldexp(std::fabs(units), exponent - 10);
  if (value > 65504) {
    const int direction = std::fegetround();
    const bool away =
        direction == FE_TONEAREST || direction == (sign != 0 ? FE_DOWNWARD : FE_UPWARD);
    return sign | (away ? 0x7c00U : 0x7bffU);
  }
  if (value < 0x1p-14) return sign | static_cast<uint32_t>(std::fabs(units));
  const int e = std::ilogb(value);
  return sign | static_cast<uint32_t>(e + 15) << 10 |
         (static_cast<uint32_t>(std::ldexp(value, 10 - e)) & 0x3ff);
}
/// flushed_result for a half.
inline uint32_t half_result(double exact, bool ftz) {
  const volatile double same = exact, larger = exact * 256;
  const uint32_t rounded = f16_bits(same);
  return ftz && (f16_bits(larger) & 0x7fff) < 0x2400 ? rounded & 0x8000 : rounded;  // 2^-6
}

/// Distance of two floats in units of the last place, counted over the number line; NaN counts as
/// infinitely far from everything but NaN.
inline double ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  if (static_cast<double>(got) == exact) return 0;
  if (std::isinf(exact) || std::isinf(got)) return static_cast<float>(exact) == got ? 0 : INFINITY;
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::fabs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 23);
}

}  // namespace values
