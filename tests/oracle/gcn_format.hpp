// GCN typed buffer conversions, as arithmetic on doubles: every step is the sentence of the
// documents, none is the runtime's. A double holds each intermediate value exactly.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace lanewise::oracle::gcn {

enum NumberFormat { unorm, snorm, uscaled, sscaled, uint_, sint, snorm_ogl, float_ };

struct Field {
  unsigned low, width;
};
struct Layout {
  unsigned bytes, count;
  Field field[4];  ///< X Y Z W
};
constexpr Layout layout(unsigned data_format) {
  switch (data_format) {
    case 1:
      return {1, 1, {{0, 8}}};
    case 2:
      return {2, 1, {{0, 16}}};
    case 3:
      return {2, 2, {{0, 8}, {8, 8}}};
    case 4:
      return {4, 1, {{0, 32}}};
    case 5:
      return {4, 2, {{0, 16}, {16, 16}}};
    case 6:
      return {4, 3, {{0, 11}, {11, 11}, {22, 10}}};
    case 7:
      return {4, 3, {{0, 10}, {10, 11}, {21, 11}}};
    case 8:
      return {4, 4, {{0, 2}, {2, 10}, {12, 10}, {22, 10}}};
    case 9:
      return {4, 4, {{0, 10}, {10, 10}, {20, 10}, {30, 2}}};
    case 10:
      return {4, 4, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}};
    case 11:
      return {8, 2, {{0, 32}, {32, 32}}};
    case 12:
      return {8, 4, {{0, 16}, {16, 16}, {32, 16}, {48, 16}}};
    case 13:
      return {12, 3, {{0, 32}, {32, 32}, {64, 32}}};
    case 14:
      return {16, 4, {{0, 32}, {32, 32}, {64, 32}, {96, 32}}};
    default:
      return {0, 0, {}};
  }
}

constexpr double power(int e) {
  double v = 1;
  for (; e > 0; --e) v *= 2;
  for (; e < 0; ++e) v /= 2;
  return v;
}
constexpr double floor_of(double v) {
  const double whole = static_cast<double>(static_cast<int64_t>(v));
  return whole > v ? whole - 1 : whole;
}
/// Nearest integer, ties to even; |v| below 2^60.
constexpr double nearest(double v) {
  const double low = floor_of(v), rest = v - low;
  if (rest < 0.5) return low;
  if (rest > 0.5) return low + 1;
  return static_cast<int64_t>(low) % 2 == 0 ? low : low + 1;
}

// --- small floats: 5 exponent bits of bias 15, `mantissa` fraction bits --------------------------
constexpr uint32_t widen_small(uint32_t code, unsigned mantissa) {
  const uint32_t fraction = code & ((1U << mantissa) - 1), exponent = code >> mantissa & 31;
  const uint32_t sign = mantissa == 10 ? (code >> 15 & 1) << 31 : 0;
  if (exponent == 31) return sign | 0x7f800000 | fraction << (23 - mantissa);
  const double scaled = static_cast<double>(fraction) * power(-static_cast<int>(mantissa));
  const double value =
      exponent == 0 ? scaled * power(-14) : (1 + scaled) * power(static_cast<int>(exponent) - 15);
  return sign | std::bit_cast<uint32_t>(static_cast<float>(value));
}
/// Round to nearest even, or toward zero; the unsigned ones turn negative numbers into 0.
constexpr uint32_t narrow_small(uint32_t x, unsigned mantissa, bool toward_zero) {
  const bool negative = x >> 31 != 0, has_sign = mantissa == 10;
  const uint32_t magnitude = x & 0x7fffffff, infinity = 31U << mantissa;
  const uint32_t sign = has_sign && negative ? 0x8000 : 0;
  if (magnitude > 0x7f800000)  // NaN: quiet, the top of the payload kept
    return sign | infinity | 1U << (mantissa - 1) | ((magnitude & 0x7fffff) >> (23 - mantissa));
  if (negative && !has_sign) return 0;
  if (magnitude == 0x7f800000) return sign | infinity;
  const double v = std::bit_cast<float>(magnitude);
  int exponent = -14;
  while (exponent < 129 && v >= power(exponent + 1)) ++exponent;
  const double units = v / power(exponent - static_cast<int>(mantissa));
  const double kept = toward_zero ? floor_of(units) : nearest(units);
  const double code =
      kept + (exponent + 14) * static_cast<double>(1U << mantissa);  // hidden bit carries
  if (code >= infinity) return sign | (toward_zero ? infinity - 1 : infinity);
  return sign | static_cast<uint32_t>(code);
}

struct Rules {
  bool d16 = false;
  bool zero_out_of_range = false;  ///< DST_SEL_1 gives 0, too
  bool zero_missing = false;       ///< A of a format without A is 0
  bool toward_zero = false;        ///< floats to narrower floats
  bool truncate_integers = false;  ///< instead of clamping
  bool signed_alpha = false;       ///< of 2_10_10_10
};

constexpr bool is_integer(unsigned nfmt) {
  return nfmt == uint_ || nfmt == sint;
}
constexpr unsigned without_sign(unsigned nfmt) {
  if (nfmt == snorm || nfmt == snorm_ogl) return unorm;
  if (nfmt == sscaled) return uscaled;
  return nfmt == sint ? unsigned{uint_} : nfmt;
}
constexpr double sign_extended(uint32_t c, unsigned n) {
  const double v = c;
  return n != 0 && c >> (n - 1) != 0 ? v - power(static_cast<int>(n)) : v;
}
constexpr uint32_t float_bits(double v) {
  return v == 0 ? 0 : std::bit_cast<uint32_t>(static_cast<float>(v));
}

/// Memory field to register.
constexpr uint32_t load_component(uint32_t c, unsigned n, unsigned nfmt) {
  if (n == 32) return c;
  const double all = power(static_cast<int>(n)) - 1, s = sign_extended(c, n);
  const double most = power(static_cast<int>(n) - 1) - 1;
  switch (nfmt) {
    case unorm:
      return float_bits(c / all);
    case snorm: {
      const double v = s / most;
      return float_bits(v < -1 ? -1 : v);
    }
    case uscaled:
      return float_bits(c);
    case sscaled:
      return float_bits(s);
    case uint_:
      return c;
    case sint:
      return static_cast<uint32_t>(static_cast<int32_t>(s));
    case snorm_ogl:
      return float_bits((2 * s + 1) / all);
    default:
      return n == 16   ? widen_small(c, 10)
             : n == 11 ? widen_small(c, 6)
             : n == 10 ? widen_small(c, 5)
                       : 0;
  }
}

constexpr double clamped(double v, double low, double high) {
  return v < low ? low : v > high ? high : v;
}
/// Register to memory field.
constexpr uint32_t store_component(uint32_t r, unsigned n, unsigned nfmt, const Rules& rules) {
  if (n == 32) return r;
  const double all = power(static_cast<int>(n)) - 1, most = power(static_cast<int>(n) - 1) - 1;
  const uint32_t mask = (1U << n) - 1;
  if (nfmt == uint_) return rules.truncate_integers ? r & mask : r > mask ? mask : r;
  if (nfmt == sint) {
    if (rules.truncate_integers) return r & mask;
    const double v = clamped(static_cast<int32_t>(r), -most - 1, most);
    return static_cast<uint32_t>(static_cast<int32_t>(v)) & mask;
  }
  if (nfmt == float_)
    return n == 16   ? narrow_small(r, 10, rules.toward_zero)
           : n == 11 ? narrow_small(r, 6, rules.toward_zero)
           : n == 10 ? narrow_small(r, 5, rules.toward_zero)
                     : 0;
  const bool nan = (r & 0x7fffffff) > 0x7f800000;
  const double x = nan ? 0 : clamped(std::bit_cast<float>(r), -power(40), power(40));
  double v = 0;
  if (nfmt == unorm) v = nearest(clamped(x, 0, 1) * all);
  if (nfmt == snorm) v = nearest(clamped(x, -1, 1) * most);
  if (nfmt == uscaled) v = clamped(nearest(x), 0, all);
  if (nfmt == sscaled) v = clamped(nearest(x), -most - 1, most);
  if (nfmt == snorm_ogl) {
    // The subtraction would lose tiny x; on which side of -1/2 the result is decides alone.
    const double y = clamped(x, -1, 1);
    v = y < 0 && y > -power(-30) ? -1 : y >= 0 && y < power(-30) ? 0 : nearest((y * all - 1) / 2);
  }
  return static_cast<uint32_t>(static_cast<int64_t>(v)) & mask;
}

using Texel = std::array<uint32_t, 4>;
constexpr uint32_t take(const Texel& raw, Field f) {
  uint64_t v = 0;
  for (unsigned b = 0; b < f.width; ++b)
    v |= uint64_t{raw[(f.low + b) / 32] >> ((f.low + b) % 32) & 1} << b;
  return static_cast<uint32_t>(v);
}
constexpr void put(Texel& raw, Field f, uint32_t v) {
  for (unsigned b = 0; b < f.width; ++b)
    raw[(f.low + b) / 32] |= (v >> b & 1) << ((f.low + b) % 32);
}
constexpr unsigned format_of(unsigned dfmt, unsigned nfmt, unsigned component, const Rules& rules) {
  return dfmt == 9 && component == 3 && !rules.signed_alpha ? without_sign(nfmt) : nfmt;
}

/// What FORMAT_XYZW writes to its four registers.
constexpr Texel load(const Texel& raw, unsigned dfmt, unsigned nfmt,
                     const std::array<unsigned, 4>& dst_sel, bool in_range, const Rules& rules) {
  const Layout l = layout(dfmt);
  const bool readable = in_range && l.bytes != 0;
  const uint32_t one = is_integer(nfmt) ? 1 : rules.d16 ? 0x3c00 : 0x3f800000;
  Texel rgba = {0, 0, 0, rules.zero_missing ? 0 : one};
  for (unsigned k = 0; k < l.count; ++k) {
    rgba[k] =
        load_component(take(raw, l.field[k]), l.field[k].width, format_of(dfmt, nfmt, k, rules));
    if (!rules.d16) continue;
    rgba[k] = is_integer(nfmt) ? rgba[k] & 0xffff : narrow_small(rgba[k], 10, rules.toward_zero);
  }
  if (!readable) rgba = {0, 0, 0, 0};
  Texel out{};
  for (unsigned n = 0; n < 4; ++n) {
    if (dst_sel[n] == 1) out[n] = !readable && rules.zero_out_of_range ? 0 : one;
    if (dst_sel[n] >= 4) out[n] = rgba[dst_sel[n] - 4];
  }
  return out;
}

/// The bytes that FORMAT_... with `registers` data registers stores.
constexpr Texel store(const Texel& vdata, unsigned registers, unsigned dfmt, unsigned nfmt,
                      const std::array<unsigned, 4>& dst_sel, const Rules& rules) {
  const Layout l = layout(dfmt);
  Texel raw{};
  for (unsigned k = 0; k < l.count; ++k) {
    unsigned from = 4;
    for (unsigned n = 4; n-- > 0;)
      if (dst_sel[n] == 4 + k) from = n;
    uint32_t v = from < registers ? vdata[from] : 0;
    const unsigned nf = format_of(dfmt, nfmt, k, rules);
    if (rules.d16) {
      v &= 0xffff;
      if (nfmt == sint) v = static_cast<uint32_t>(static_cast<int32_t>(sign_extended(v, 16)));
      if (!is_integer(nfmt)) v = widen_small(v, 10);
    }
    put(raw, l.field[k], store_component(v, l.field[k].width, nf, rules));
  }
  return raw;
}

/// Combinations that hardware documents or drivers know.
constexpr bool legal(unsigned dfmt, unsigned nfmt, bool is_store, bool vi) {
  if (dfmt == 0 || dfmt == 15) return false;
  const unsigned n = layout(dfmt).field[1].width == 11 ? 11 : layout(dfmt).field[0].width;
  if (n == 32) return is_integer(nfmt) || nfmt == float_;
  if (n == 11) return nfmt == float_;
  if (nfmt == float_) return n == 16;
  if (nfmt == snorm_ogl) return !vi && !is_store;
  return !is_store || (nfmt != uscaled && nfmt != sscaled);
}

// Witnesses.
static_assert(load_component(255, 8, unorm) == 0x3f800000 &&
              load_component(1, 8, unorm) == 0x3b808081);
static_assert(load_component(0x80, 8, snorm) == 0xbf800000);
static_assert(load_component(0x81, 8, snorm) == 0xbf800000);
static_assert(load_component(0x80, 8, snorm_ogl) == 0xbf800000);
static_assert(load_component(0x7f, 8, snorm_ogl) == 0x3f800000);
static_assert(load_component(0x3c00, 16, float_) == 0x3f800000);
static_assert(load_component(1, 16, float_) == 0x33800000);
static_assert(load_component(0x3c0, 11, float_) == 0x3f800000);
static_assert(store_component(0x3f000000, 8, unorm, {}) == 128);  // 127.5: the even one
static_assert(store_component(0x7fc00000, 8, unorm, {}) == 0);
static_assert(store_component(0xbf800000, 8, snorm, {}) == 0x81);
static_assert(store_component(0xbf800000, 8, snorm_ogl, {}) == 0x80);
static_assert(store_component(300, 8, uint_, {}) == 255);
static_assert(narrow_small(0x477fe000, 10, false) == 0x7bff);  // 65504
static_assert(narrow_small(0x477ff000, 10, false) == 0x7c00);  // halfway to 65536
static_assert(narrow_small(0x477ff000, 10, true) == 0x7bff);
static_assert(narrow_small(0x7f7fffff, 6, true) == 0x7bf &&
              narrow_small(0xbf800000, 6, false) == 0);

}  // namespace lanewise::oracle::gcn
