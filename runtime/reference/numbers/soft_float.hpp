// IEEE 754 arithmetic on bit patterns, in integers: every format, every rounding direction, the
// same on every host. No flags, no traps; NaN results are the canonical NaN of the format.
#pragma once

#include <cstdint>

#include "runtime/ir/types.hpp"

namespace lanewise::reference {

using u128 = unsigned __int128;

struct Format {
  int fraction;  ///< stored significand bits
  int bias;      ///< exponent bias, also the largest exponent
  int bits;      ///< width of the encoding
  uint64_t nan;  ///< canonical quiet NaN

  constexpr uint64_t sign_bit() const { return uint64_t{1} << (bits - 1); }
  constexpr uint64_t infinity() const { return uint64_t(2 * bias + 1) << fraction; }
  constexpr uint64_t magnitude(uint64_t v) const { return v & (sign_bit() - 1); }
  constexpr bool is_nan(uint64_t v) const { return magnitude(v) > infinity(); }
  constexpr bool is_subnormal(uint64_t v) const {
    return magnitude(v) != 0 && magnitude(v) >> fraction == 0;
  }
  constexpr uint64_t one() const { return uint64_t(bias) << fraction; }
};

inline constexpr Format kF16{10, 15, 16, 0x7fff};
inline constexpr Format kF32{23, 127, 32, 0x7fffffff};
inline constexpr Format kF64{52, 1023, 64, 0xfff8000000000000};

constexpr const Format& format_of(ir::Type t) {
  return t == ir::Type::f16 ? kF16 : t == ir::Type::f64 ? kF64 : kF32;
}

/// A number taken apart: (-1)^sign * sig * 2^exp. The lowest bit of sig may be a sticky bit that
/// stands for "a little more"; then sig has far more bits than any format keeps.
struct Number {
  enum class Class : uint8_t { zero, finite, inf, nan };
  Class cls = Class::zero;
  bool sign = false;
  int exp = 0;
  u128 sig = 0;
};

Number unpack(const Format& f, uint64_t bits);
/// Rounds once, to the nearest representable value in the given direction. `flush`: as if exponents
/// had no end, and what is then smaller than the normal numbers is a zero of its sign.
uint64_t pack(const Format& f, const Number& n, ir::Round round, bool flush = false);

Number add(Number a, Number b, ir::Round round);  ///< the direction decides the sign of x - x
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number square_root(const Number& a);
/// The integral value next to `a` in the direction; keeps the sign of zero results.
Number round_to_integral(const Number& a, ir::Round round);
Number from_integer(bool sign, uint64_t magnitude);

}  // namespace lanewise::reference
