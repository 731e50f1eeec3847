#include "runtime/reference/memory/buffer_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/ir/format_bytes.hpp"
#include "runtime/ir/types.hpp"
#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference {
namespace {

enum NumberFormat : uint32_t { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kOgl, kFloat };
constexpr uint32_t kOne = 0x3f800000, kInf = 0x7f800000;

struct Layout {
  uint8_t count;
  std::array<uint8_t, 4> low, width;
};
constexpr Layout kLayouts[16] = {
    {0, {}, {}},
    {1, {0}, {8}},
    {1, {0}, {16}},
    {2, {0, 8}, {8, 8}},
    {1, {0}, {32}},
    {2, {0, 16}, {16, 16}},
    {3, {0, 11, 22}, {11, 11, 10}},
    {3, {0, 10, 21}, {10, 11, 11}},
    {4, {0, 2, 12, 22}, {2, 10, 10, 10}},
    {4, {0, 10, 20, 30}, {10, 10, 10, 2}},
    {4, {0, 8, 16, 24}, {8, 8, 8, 8}},
    {2, {0, 32}, {32, 32}},
    {4, {0, 16, 32, 48}, {16, 16, 16, 16}},
    {3, {0, 32, 64}, {32, 32, 32}},
    {4, {0, 32, 64, 96}, {32, 32, 32, 32}},
    {0, {}, {}},
};
const Layout& layout(uint32_t format) {
  return kLayouts[format >> 15 & 15];
}
uint32_t number_format(uint32_t format) {
  return format >> 12 & 7;
}
bool has(uint32_t mode, ir::FormatMode bit) {
  return (mode & static_cast<uint32_t>(bit)) != 0;
}
bool is_integer(uint32_t number) {
  return number == kUint || number == kSint;
}

uint32_t ones(unsigned n) {
  return n >= 32 ? ~0U : (1U << n) - 1;
}

uint32_t word_of(float x) {
  return std::bit_cast<uint32_t>(x);
}
/// |x|; products of it and an integer of 16 bits are exact.
double size_of(uint32_t x) {
  return std::bit_cast<float>(x & 0x7fffffff);
}

/// c / (2^n - 1) as f32.
uint32_t fraction(uint32_t c, unsigned n) {
  return word_of(static_cast<float>(c) / static_cast<float>(ones(n)));
}
/// Integer below 2^24 as f32.
uint32_t whole(uint32_t c) {
  return word_of(static_cast<float>(c));
}

/// Floats with 5 exponent bits (bias 15) and m fraction bits, without their sign.
uint32_t widen(uint32_t c, unsigned m) {
  const uint32_t f = c & ones(m), e = c >> m & 31;
  if (e == 31) return kInf | f << (23 - m);
  const auto unit = std::bit_cast<float>((std::max(e, 1U) + 112 - m) << 23);
  return word_of(static_cast<float>(e != 0 ? f | 1U << m : f) * unit);
}
uint32_t narrow(uint32_t x, unsigned m, bool toward_zero) {
  const auto fraction = static_cast<int>(m);
  const uint32_t a = x & 0x7fffffff;
  if (a > kInf) return 31U << m | 1U << (m - 1) | (a & 0x7fffff) >> (23 - m);
  return static_cast<uint32_t>(pack({fraction, 15, fraction + 6, 0}, unpack(kF32, a),
                                    toward_zero ? ir::Round::rz : ir::Round::rn));
}
uint32_t widen_half(uint32_t h) {
  return (h & 0x8000) << 16 | widen(h, 10);
}
uint32_t narrow_half(uint32_t x, bool toward_zero) {
  return (x >> 16 & 0x8000) | narrow(x, 10, toward_zero);
}

uint32_t sign_extend(uint32_t c, unsigned n) {
  const unsigned up = 32 - n;
  return static_cast<uint32_t>(static_cast<int32_t>(c << up) >> up);
}
uint32_t magnitude(uint32_t s) {
  return s >> 31 != 0 ? 0 - s : s;
}

uint32_t load_component(uint32_t c, unsigned n, uint32_t number) {
  if (n == 32) return c;
  const uint32_t s = sign_extend(c, n), sign = s & 0x80000000;
  switch (number) {
    case kUnorm:
      return fraction(c, n);
    case kSnorm:
      return sign | fraction(std::min(magnitude(s), ones(n - 1)), n - 1);
    case kUscaled:
      return whole(c);
    case kSscaled:
      return sign | whole(magnitude(s));
    case kUint:
      return c;
    case kSint:
      return s;
    case kOgl:
      return sign | fraction(magnitude(2 * s + 1), n);
    default:
      return n == 16 ? widen_half(c) : n == 11 ? widen(c, 6) : n == 10 ? widen(c, 5) : 0;
  }
}

/// The nearest integer, ties to even; two's complement.
uint32_t nearest(double x) {
  return static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(x)));
}
/// |x| clamped to 1, times `factor`, rounded.
uint32_t normalised(uint32_t a, uint32_t factor) {
  return nearest(std::min(size_of(a), 1.0) * factor);
}
uint32_t store_ogl(uint32_t x, unsigned n) {
  double size = std::min(size_of(x), 1.0) * ones(n);
  // What is nearer to 0 than that is rounded like it, and the sum would lose it.
  if (size != 0) size = std::max(size, 0x1p-12);
  return nearest(((x >> 31 != 0 ? -size : size) - 1) / 2);
}
/// |x| rounded to an integer, at most `most`.
uint32_t store_whole(uint32_t a, uint32_t most) {
  return nearest(std::min<double>(size_of(a), most));
}
uint32_t with_sign(bool negative, uint32_t v) {
  return negative ? 0 - v : v;
}

uint32_t store_integer(uint32_t r, unsigned n, bool is_signed) {
  if (!is_signed) return std::min(r, ones(n));
  const auto most = static_cast<int32_t>(ones(n - 1));
  return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(r), -most - 1, most));
}

uint32_t store_float(uint32_t r, unsigned n, bool toward_zero) {
  if (n == 16) return narrow_half(r, toward_zero);
  if (n != 11 && n != 10) return 0;
  const bool nan = (r & 0x7fffffff) > kInf;
  return r >> 31 != 0 && !nan ? 0 : narrow(r, n - 5, toward_zero);
}

uint32_t store_component(uint32_t r, unsigned n, uint32_t number, uint32_t mode) {
  if (n == 32) return r;
  if (number == kFloat) return store_float(r, n, has(mode, ir::FormatMode::toward_zero));
  if (is_integer(number))
    return has(mode, ir::FormatMode::truncate) ? r : store_integer(r, n, number == kSint);
  const uint32_t x = (r & 0x7fffffff) > kInf ? 0 : r, a = x & 0x7fffffff;
  const bool negative = x >> 31 != 0;
  switch (number) {
    case kUnorm:
      return negative ? 0 : normalised(a, ones(n));
    case kSnorm:
      return with_sign(negative, normalised(a, ones(n - 1)));
    case kUscaled:
      return negative ? 0 : store_whole(a, ones(n));
    case kSscaled:
      return with_sign(negative, store_whole(a, ones(n - 1) + (negative ? 1 : 0)));
    default:
      return store_ogl(x, n);
  }
}

/// The two bits of 2_10_10_10 have no sign in this hardware.
uint32_t component_number(uint32_t format, unsigned k, uint32_t mode) {
  const uint32_t number = number_format(format);
  const bool alpha = (format >> 15 & 15) == 9 && k == 3;
  if (!alpha || has(mode, ir::FormatMode::signed_alpha)) return number;
  if (number == kOgl) return kUnorm;
  return number == kSnorm || number == kSscaled || number == kSint ? number - 1 : number;
}

uint32_t take(const Texel& raw, unsigned low, unsigned n) {
  return raw[low / 32] >> (low % 32) & ones(n);
}

uint32_t register_value(uint32_t v, uint32_t number, uint32_t mode) {
  if (!has(mode, ir::FormatMode::d16)) return v;
  return is_integer(number) ? v & 0xffff : narrow_half(v, has(mode, ir::FormatMode::toward_zero));
}
uint32_t from_half_register(uint32_t v, uint32_t number) {
  v &= 0xffff;
  if (number == kUint) return v;
  return number == kSint ? sign_extend(v, 16) : widen_half(v);
}

}  // namespace

uint32_t format_bytes(uint32_t format) {
  return ir::kFormatBytes[format >> 15 & 15];
}

bool format_legal(uint32_t format, uint32_t mode) {
  const Layout& l = layout(format);
  const uint32_t number = number_format(format);
  const bool store = has(mode, ir::FormatMode::store);
  if (l.count == 0) return false;
  if (l.width[0] == 32) return is_integer(number) || number == kFloat;
  if (l.width[1] == 11) return number == kFloat;
  if (number == kFloat) return l.width[0] == 16;
  if (number == kOgl) return !store && !has(mode, ir::FormatMode::gfx8);
  return !store || (number != kUscaled && number != kSscaled);
}

Texel format_unpack(const Texel& raw, uint32_t format, bool in_range, uint32_t mode) {
  const Layout& l = layout(format);
  const uint32_t number = number_format(format);
  const bool readable = in_range && l.count != 0;
  const uint32_t one = is_integer(number) ? 1 : has(mode, ir::FormatMode::d16) ? 0x3c00 : kOne;
  Texel rgba{};
  if (readable) {
    if (!has(mode, ir::FormatMode::missing_zero)) rgba[3] = one;
    for (unsigned k = 0; k < l.count; ++k)
      rgba[k] = register_value(load_component(take(raw, l.low[k], l.width[k]), l.width[k],
                                              component_number(format, k, mode)),
                               number, mode);
  }
  const uint32_t constant = !readable && has(mode, ir::FormatMode::out_of_range_zero) ? 0 : one;
  Texel out{};
  for (unsigned n = 0; n < 4; ++n) {
    const uint32_t select = format >> (3 * n) & 7;
    out[n] = select >= 4 ? rgba[select - 4] : select == 1 ? constant : 0;
  }
  return out;
}

Texel format_pack(const Texel& data, uint32_t format, uint32_t mode) {
  const Layout& l = layout(format);
  const uint32_t number = number_format(format);
  Texel raw{};
  for (unsigned k = 0; k < l.count; ++k) {
    uint32_t v = 0;
    for (unsigned n = 4; n-- > 0;)
      if ((format >> (3 * n) & 7) == 4 + k) v = data[n];
    if (has(mode, ir::FormatMode::d16)) v = from_half_register(v, number);
    const unsigned n = l.width[k];
    v = store_component(v, n, component_number(format, k, mode), mode) & ones(n);
    raw[l.low[k] / 32] |= v << (l.low[k] % 32);
  }
  return raw;
}

uint32_t srgb_to_float(uint32_t component) {
  constexpr uint32_t kCurve[] = {
#include "runtime/layout/srgb_words.h"
  };
  return kCurve[component & 255];
}

}  // namespace lanewise::reference
