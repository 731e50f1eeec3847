// GCN typed buffer accesses: elements in memory to registers and back, in integer arithmetic.
// The format word is descriptor word 3: bits 0-11 DST_SEL, 12-14 NUM_FORMAT, 15-18 DATA_FORMAT.
// mode: ir::FormatMode. The rules: docs/gcn.md.

const uint F_UNORM = 0u, F_SNORM = 1u, F_USCALED = 2u, F_SSCALED = 3u, F_UINT = 4u, F_SINT = 5u,
           F_OGL = 6u, F_FLOAT = 7u;
const uint F_D16 = 1u, F_GFX8 = 2u, F_STORE = 4u, F_OOR_ZERO = 8u, F_MISSING_ZERO = 16u,
           F_RTZ = 32u, F_TRUNCATE = 64u, F_SIGNED_ALPHA = 128u;
const uint ONE32 = 0x3f800000u, INF32 = 0x7f800000u, SELECT_IDENTITY = 0xfacu;

uint format_code(const in uint format) { return (format >> 15) & 15u; }
uint format_number(const in uint format) { return (format >> 12) & 7u; }
bool format_integer(const in uint number) { return (number & 6u) == F_UINT; }
uint low_ones(const in uint n) { return n > 31u ? 0xffffffffu : (1u << n) - 1u; }

/// Entry of a format in a table of 16 that has 4 bits for each DATA_FORMAT.
uint nibble(const in uint format, const in uint low, const in uint high) {
  return (pick((format & 0x40000u) != 0u, high, low) >> ((format >> 13) & 28u)) & 15u;
}
uint format_components(const in uint format) { return nibble(format, 0x33212110u, 0x04342444u); }
bool format_of_words(const in uint code) { return ((0x6810u >> code) & 1u) != 0u; }
bool format_of_halves(const in uint code) { return ((0x1024u >> code) & 1u) != 0u; }
/// All components have 8 bits, or all have 16.
bool format_of_equals(const in uint code) { return ((0x142eu >> code) & 1u) != 0u; }
/// Of formats whose components differ in width.
uvec4 mixed_widths(const in uint code) {
  return uvec4(pick(code == 8u, 2u, pick(code == 6u, 11u, 10u)), pick(code < 8u, 11u, 10u),
               pick(code == 7u, 11u, 10u), pick(code < 8u, 0u, pick(code == 8u, 10u, 2u)));
}
/// Widths of X Y Z W in bits; fields follow each other from bit 0 on.
uvec4 format_widths(const in uint format) {
  uint code = format_code(format);
  uint n = pick(format_of_words(code), 32u, pick(format_of_halves(code), 16u, 8u));
  uvec4 width = pick(code - 6u < 4u, mixed_widths(code), uvec4(n));
  return mix(uvec4(0u), width, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(format_components(format))));
}

uint lw_fmt_bytes(const in uint format, const in uint mode) {
  uint n = nibble(format, 0x44442210u, 0x0fc88444u);
  return pick(n == 15u, 16u, n);
}

/// By what the number format asks for: data formats have a bit each.
bool lw_fmt_legal(const in uint format, const in uint mode) {
  bool store = (mode & F_STORE) != 0u;
  const uint fractions = 0x172eu, integers = 0x7f3eu, floats = 0x78f4u;
  uint number = format_number(format), legal = fractions;
  if (store) legal = pick(either(number == F_USCALED, number == F_SSCALED), 0u, legal);
  if (store || (mode & F_GFX8) != 0u) legal = pick(number == F_OGL, 0u, legal);
  legal = pick(number == F_FLOAT, floats, pick(format_integer(number), integers, legal));
  return ((legal >> format_code(format)) & 1u) != 0u;
}

/// Floats with 5 exponent bits of bias 15 and 10 fraction bits, without their sign. Products of powers
/// of two are exact, and none is subnormal here.
uint widen_small(const in uint h) {
  const uint least = 1u << 23;
  precise float subnormal = float(int(h)) * uintBitsToFloat(103u << 23);
  uint a = h << 13, offset = pick(a >= 31u * least, 224u * least, 112u * least);
  return pick(a < least, floatBitsToUint(subnormal), a + offset);
}
uint narrow_small(const in uint x, const in uint m, const in bool toward_zero) {
  uint a = x & 0x7fffffffu, inf = 31u << m;
  if (a > INF32) return inf | (1u << (m - 1u)) | ((a & 0x7fffffu) >> (23u - m));
  if (a == INF32) return inf;
  int e = int(a >> 23) - 112;
  if (e >= 31) return toward_zero ? inf - 1u : inf;
  uint shift = 23u - m + uint(max(1 - e, 0));
  if (shift > 25u) return 0u;
  uint significand = (a & 0x7fffffu) | 0x800000u;
  uint kept = significand >> shift, rest = significand & low_ones(shift), half_ = 1u << (shift - 1u);
  if (!toward_zero && (rest > half_ || (rest == half_ && (kept & 1u) != 0u))) ++kept;
  return kept + (uint(max(e - 1, 0)) << m);
}
uint widen_half(const in uint h) { return ((h & 0x8000u) << 16) | widen_small(h & 0x7fffu); }
uint narrow_half(const in uint x, const in uint mode) {
  return ((x >> 16) & 0x8000u) | narrow_small(x, 10u, (mode & F_RTZ) != 0u);
}

uint sign_extend_bits(const in uint c, const in uint n) {
  return uint(int(c << (32u - n)) >> (32u - n));
}
/// |x| * factor * 2^8, everything below kept in the lowest bit; for |x| < 2^16.
uint scaled_bits(const in uint x, const in uint factor) {
  uint e = (x >> 23) & 0xffu;
  B64 product = mulwide32((x & 0x7fffffu) | (e != 0u ? 0x800000u : 0u), factor);
  return lo64(shr64_jam(product, 142u - max(e, 1u)));
}
/// v / 2^bits to nearest even, two's complement.
uint nearest_bits(const in uint v, const in uint bits) {
  uint low = uint(int(v) >> bits), rest = v & low_ones(bits), half_ = 1u << (bits - 1u);
  return low + (rest > half_ || (rest == half_ && (low & 1u) != 0u) ? 1u : 0u);
}
uint normalised_bits(const in uint a, const in uint factor) {
  return a >= ONE32 ? factor : nearest_bits(scaled_bits(a, factor), 8u);
}
uint store_whole(const in uint a, const in uint most) {
  return a >= 0x47800000u ? most : min(nearest_bits(scaled_bits(a, 1u), 8u), most);
}

uint store_component(const in uint r, const in uint n, const in uint number, const in uint mode) {
  if (n == 32u) return r;
  bool nan = (r & 0x7fffffffu) > INF32;
  if (number == F_FLOAT) {
    if (n == 16u) return narrow_half(r, mode);
    if (n != 10u && n != 11u) return 0u;
    return (r >> 31) != 0u && !nan ? 0u : narrow_small(r, n - 5u, (mode & F_RTZ) != 0u);
  }
  if (format_integer(number)) {
    if ((mode & F_TRUNCATE) != 0u) return r;
    int most = int(low_ones(n - 1u));
    return number == F_UINT ? min(r, low_ones(n)) : uint(clamp(int(r), -most - 1, most));
  }
  uint x = nan ? 0u : r, a = x & 0x7fffffffu;
  bool negative = (x >> 31) != 0u;
  uint v = 0u;
  switch (number) {
    case F_UNORM: return negative ? 0u : normalised_bits(a, low_ones(n));
    case F_SNORM: v = normalised_bits(a, low_ones(n - 1u)); break;
    case F_USCALED: return negative ? 0u : store_whole(a, low_ones(n));
    case F_SSCALED: v = store_whole(a, low_ones(n - 1u) + (negative ? 1u : 0u)); break;
    default: {
      uint t = a >= ONE32 ? low_ones(n) << 8 : scaled_bits(a, low_ones(n));
      return nearest_bits((negative ? 0u - t : t) - 256u, 9u);
    }
  }
  return negative ? 0u - v : v;
}

/// The two bits of 2_10_10_10 have no sign in this hardware.
uint component_number(const in uint format, const in uint k, const in uint mode) {
  uint number = format_number(format);
  if (format_code(format) != 9u || k != 3u || (mode & F_SIGNED_ALPHA) != 0u) return number;
  if (number == F_OGL) return F_UNORM;
  return number == F_SNORM || number == F_SSCALED || number == F_SINT ? number - 1u : number;
}

/// c / (2^n - 1), rounded once, is q + q * y with q = c * x: the product q is exact, and x and y are
/// cut from the sum of all 2^-kn so that the error lies below where the sum would be rounded the other
/// way. That holds for all c of n bits, whether the device fuses the sum or not.
uint two_terms(const in uint n) { return ((127u - n) << 23) | (1u << (23u - n)); }
uvec2 unit_of(const in uint n) {
  if (n == 1u) return uvec2(ONE32, 0u);
  if (n == 2u) return uvec2(0x3ea00000u, 0x3d888889u);
  return n > 11u ? uvec2((127u - n) << 23, two_terms(n)) : uvec2(two_terms(n), two_terms(2u * n));
}

/// How components of one width become numbers: the same in all lanes.
struct Component {
  uint sign;   ///< 0 when they have none
  uint least;  ///< what lies below it counts as it
  uint twice;  ///< 2 c + 1 instead of c
  uvec2 unit;
};
Component component_of(const in uint width, const in uint number) {
  bool scaled = either(number == F_USCALED, number == F_SSCALED), snorm = number == F_SNORM;
  Component c;
  c.sign = ((0x6au >> number) & 1u) << (width - 1u);
  c.least = pick(snorm, 1u - (1u << (width - 1u)), 0x80000000u);
  c.twice = uint(number == F_OGL);
  c.unit = pick(scaled, unit_of(1u), pick(snorm, unit_of(width - 1u), unit_of(width)));
  return c;
}
Component pick(const in bool c, const in Component a, const in Component b) {
  return Component(pick(c, a.sign, b.sign), pick(c, a.least, b.least), pick(c, a.twice, b.twice),
                   pick(c, a.unit, b.unit));
}
uint load_number(const in uint bits, const in Component of, const in bool integer) {
  int c = max(int((bits ^ of.sign) - of.sign), int(of.least));
  c = (c << of.twice) + int(of.twice);
  precise float q = float(c) * uintBitsToFloat(of.unit.x);
  precise float rest = q * uintBitsToFloat(of.unit.y);
  precise float sum = q + rest;
  return pick(integer, uint(c), floatBitsToUint(sum));
}
uvec4 load_numbers(const in uvec4 bits, const in uint format, const in uint mode) {
  uint code = format_code(format), number = format_number(format);
  bool integer = format_integer(number);
  if (format_of_equals(code)) {
    Component c = pick(format_of_halves(code), component_of(16u, number), component_of(8u, number));
    return uvec4(load_number(bits.x, c, integer), load_number(bits.y, c, integer),
                 load_number(bits.z, c, integer), load_number(bits.w, c, integer));
  }
  Component two = component_of(2u, component_number(format, 3u, mode));
  Component ten = component_of(10u, number), eleven = component_of(11u, number);
  Component x = pick(code == 8u, two, pick(code == 6u, eleven, ten));
  Component y = pick(code < 8u, eleven, ten), z = pick(code == 7u, eleven, ten);
  Component w = pick(code == 8u, ten, two);
  return uvec4(load_number(bits.x, x, integer), load_number(bits.y, y, integer),
               load_number(bits.z, z, integer), load_number(bits.w, w, integer));
}

/// Only those of 16 bits have a sign; those of 10 and 11 lack low bits of the fraction.
uint load_float(const in uint bits, const in uint n) {
  uint h = pick(n < 16u, bits << ((15u - n) & 31u), bits);
  return pick(n < 10u, 0u, widen_half(h));
}

/// Components of up to 16 bits. All lanes take the same side of branches on a format.
uvec4 load_components(const in uint r0, const in uint r1, const in uint format, const in uint mode) {
  uint code = format_code(format), upper = pick(code == 12u, r1, r0);
  uvec4 width = format_of_equals(code) ? uvec4(format_of_halves(code) ? 16u : 8u)
                                       : mixed_widths(code);
  uint y = width.x & 31u, z = (y + width.y) & 31u, w = (z + width.z) & 31u;
  uvec4 bits = uvec4(r0, r0 >> y, upper >> z, upper >> w) & ((uvec4(1u) << width) - 1u);
  if (format_number(format) != F_FLOAT) return load_numbers(bits, format, mode);
  return uvec4(load_float(bits.x, width.x), load_float(bits.y, width.y),
               load_float(bits.z, width.z), load_float(bits.w, width.w));
}

uint selected(const in uint format, const in uint low, const in uvec4 rgba, const in uint constant) {
  bool one = (format & (1u << low)) != 0u, two = (format & (2u << low)) != 0u;
  uint component = pick(two, pick(one, rgba.w, rgba.z), pick(one, rgba.y, rgba.x));
  uint other = pick(((format >> low) & 3u) == 1u, constant, 0u);
  return pick((format & (4u << low)) != 0u, component, other);
}

/// What depends on the format alone is the same in all lanes, and so are branches on it.
uvec4 lw_fmt_unpack(const in uint r0, const in uint r1, const in uint r2, const in uint r3,
                    const in uint format, const in bool in_range, const in uint mode) {
  uint code = format_code(format), count = format_components(format);
  uvec4 rgba = uvec4(r0, r1, r2, r3);
  if (!format_of_words(code)) rgba = load_components(r0, r1, format, mode);
  bool d16 = (mode & F_D16) != 0u, integer = format_integer(format_number(format));
  if (d16) {
    if (integer)
      rgba &= 0xffffu;
    else
      for (uint k = 0u; k < 4u; ++k) rgba[k] = narrow_half(rgba[k], mode);
  }
  uint one = pick(integer, 1u, d16 ? 0x3c00u : ONE32);
  uint alpha = (mode & F_MISSING_ZERO) == 0u ? one : 0u;
  bool readable = both(in_range, count != 0u);
  rgba.yz &= uvec2(pick(count > 1u, ~0u, 0u), pick(count > 2u, ~0u, 0u));
  rgba.w = pick(count > 3u, rgba.w, alpha);
  rgba = pick(readable, rgba, uvec4(0u));
  if ((format & 0xfffu) == SELECT_IDENTITY) return rgba;
  uint constant = (mode & F_OOR_ZERO) != 0u ? pick(readable, one, 0u) : one;
  return uvec4(selected(format, 0u, rgba, constant), selected(format, 3u, rgba, constant),
               selected(format, 6u, rgba, constant), selected(format, 9u, rgba, constant));
}

uvec4 lw_fmt_pack(const in uint x, const in uint y, const in uint z, const in uint w,
                  const in uint format, const in uint mode) {
  uvec4 data = uvec4(x, y, z, w), widths = format_widths(format), raw = uvec4(0u);
  uint number = format_number(format), low = 0u;
  for (uint k = 0u; k < 4u; ++k) {
    uint n = widths[k], v = 0u;
    if (n == 0u) break;
    for (uint i = 4u; i-- > 0u;)
      if (((format >> (3u * i)) & 7u) == 4u + k) v = data[i];
    if ((mode & F_D16) != 0u) {
      v &= 0xffffu;
      if (number == F_SINT)
        v = sign_extend_bits(v, 16u);
      else if (number != F_UINT)
        v = widen_half(v);
    }
    v = store_component(v, n, component_number(format, k, mode), mode) & low_ones(n);
    raw[low >> 5] |= v << (low & 31u);
    low += n;
  }
  return raw;
}

/// f32 of 8 bits with the sRGB curve.
const uint SRGB_CURVE[256] = uint[256](
#include "../../../runtime/layout/srgb_words.h"
);
uint lw_srgb(const in uint component) { return SRGB_CURVE[component & 255u]; }
