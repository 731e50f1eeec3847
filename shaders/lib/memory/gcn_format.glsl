// GCN typed buffer accesses: elements in memory to registers and back, in integer arithmetic.
// The format word is descriptor word 3: bits 0-11 DST_SEL, 12-14 NUM_FORMAT, 15-18 DATA_FORMAT.
// mode: ir::FormatMode. The rules: docs/gcn.md.

const uint F_UNORM = 0u, F_SNORM = 1u, F_USCALED = 2u, F_SSCALED = 3u, F_UINT = 4u, F_SINT = 5u,
           F_OGL = 6u, F_FLOAT = 7u;
const uint F_D16 = 1u, F_GFX8 = 2u, F_STORE = 4u, F_OOR_ZERO = 8u, F_MISSING_ZERO = 16u,
           F_RTZ = 32u, F_TRUNCATE = 64u, F_SIGNED_ALPHA = 128u;
const uint ONE32 = 0x3f800000u, INF32 = 0x7f800000u;

uint format_code(const in uint format) { return (format >> 15) & 15u; }
uint format_number(const in uint format) { return (format >> 12) & 7u; }
bool format_integer(const in uint number) { return number == F_UINT || number == F_SINT; }
uint low_ones(const in uint n) { return n > 31u ? 0xffffffffu : (1u << n) - 1u; }

/// Widths of X Y Z W in bits; fields follow each other from bit 0 on.
uvec4 format_widths(const in uint code) {
  switch (code) {
    case 1u: return uvec4(8u, 0u, 0u, 0u);
    case 2u: return uvec4(16u, 0u, 0u, 0u);
    case 3u: return uvec4(8u, 8u, 0u, 0u);
    case 4u: return uvec4(32u, 0u, 0u, 0u);
    case 5u: return uvec4(16u, 16u, 0u, 0u);
    case 6u: return uvec4(11u, 11u, 10u, 0u);
    case 7u: return uvec4(10u, 11u, 11u, 0u);
    case 8u: return uvec4(2u, 10u, 10u, 10u);
    case 9u: return uvec4(10u, 10u, 10u, 2u);
    case 10u: return uvec4(8u);
    case 11u: return uvec4(32u, 32u, 0u, 0u);
    case 12u: return uvec4(16u);
    case 13u: return uvec4(32u, 32u, 32u, 0u);
    case 14u: return uvec4(32u);
    default: return uvec4(0u);
  }
}

uint lw_fmt_bytes(const in uint format, const in uint mode) {
  uvec4 w = format_widths(format_code(format));
  return (w.x + w.y + w.z + w.w) >> 3;
}

bool lw_fmt_legal(const in uint format, const in uint mode) {
  uvec4 w = format_widths(format_code(format));
  uint number = format_number(format);
  bool store = (mode & F_STORE) != 0u;
  if (w.x == 0u) return false;
  if (w.x == 32u) return format_integer(number) || number == F_FLOAT;
  if (w.y == 11u) return number == F_FLOAT;
  if (number == F_FLOAT) return w.x == 16u;
  if (number == F_OGL) return !store && (mode & F_GFX8) == 0u;
  return !store || (number != F_USCALED && number != F_SSCALED);
}

/// c / (2^n - 1): the quotient's binary digits are those of c over and over, so the lost part is
/// never exactly half.
uint fraction_bits(const in uint c, const in uint n) {
  if (c == 0u) return 0u;
  if (c == low_ones(n)) return ONE32;
  uint zeros = clz32(c) - (32u - n);
  uint w = (((c << zeros) | (c >> (n - zeros))) & low_ones(n)) << (32u - n);
  for (uint filled = n; filled < 32u; filled *= 2u) w |= w >> filled;
  uint mantissa = (w >> 8) + ((w >> 7) & 1u);
  return ((126u - zeros) << 23) + (mantissa - 0x800000u);
}
uint whole_bits(const in uint c) {
  if (c == 0u) return 0u;
  uint top = uint(findMSB(c));
  return ((127u + top) << 23) | ((c << (23u - top)) & 0x7fffffu);
}

/// Floats with 5 exponent bits of bias 15 and m fraction bits, without their sign.
uint widen_small(const in uint c, const in uint m) {
  uint f = c & low_ones(m), e = (c >> m) & 31u;
  if (e == 31u) return INF32 | (f << (23u - m));
  if (e != 0u) return ((e + 112u) << 23) | (f << (23u - m));
  if (f == 0u) return 0u;
  uint top = uint(findMSB(f));
  return ((113u + top - m) << 23) | ((f << (23u - top)) & 0x7fffffu);
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
uint widen_half(const in uint h) { return ((h & 0x8000u) << 16) | widen_small(h, 10u); }
uint narrow_half(const in uint x, const in uint mode) {
  return ((x >> 16) & 0x8000u) | narrow_small(x, 10u, (mode & F_RTZ) != 0u);
}

uint sign_extend_bits(const in uint c, const in uint n) {
  return uint(int(c << (32u - n)) >> (32u - n));
}
uint magnitude_bits(const in uint s) { return (s >> 31) != 0u ? 0u - s : s; }

uint load_component(const in uint c, const in uint n, const in uint number) {
  if (n == 32u) return c;
  uint s = sign_extend_bits(c, n), sign = s & 0x80000000u;
  switch (number) {
    case F_UNORM: return fraction_bits(c, n);
    case F_SNORM: return sign | fraction_bits(min(magnitude_bits(s), low_ones(n - 1u)), n - 1u);
    case F_USCALED: return whole_bits(c);
    case F_SSCALED: return sign | whole_bits(magnitude_bits(s));
    case F_UINT: return c;
    case F_SINT: return s;
    case F_OGL: return sign | fraction_bits(magnitude_bits(2u * s + 1u), n);
    default: break;
  }
  if (n == 16u) return widen_half(c);
  return n == 10u || n == 11u ? widen_small(c, n - 5u) : 0u;
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

uvec4 lw_fmt_unpack(const in uint r0, const in uint r1, const in uint r2, const in uint r3,
                    const in uint format, const in bool in_range, const in uint mode) {
  uvec4 raw = uvec4(r0, r1, r2, r3), widths = format_widths(format_code(format));
  uint number = format_number(format);
  bool readable = in_range && widths.x != 0u, integer = format_integer(number);
  bool d16 = (mode & F_D16) != 0u;
  uint one = integer ? 1u : d16 ? 0x3c00u : ONE32;
  uvec4 rgba = uvec4(0u);
  if (readable) {
    if ((mode & F_MISSING_ZERO) == 0u) rgba.w = one;
    uint low = 0u;
    for (uint k = 0u; k < 4u; ++k) {
      uint n = widths[k];
      if (n == 0u) break;
      uint c = (raw[low >> 5] >> (low & 31u)) & low_ones(n);
      low += n;
      uint v = load_component(c, n, component_number(format, k, mode));
      if (d16) v = integer ? v & 0xffffu : narrow_half(v, mode);
      rgba[k] = v;
    }
  }
  uint constant = !readable && (mode & F_OOR_ZERO) != 0u ? 0u : one;
  uvec4 result = uvec4(0u);
  for (uint n = 0u; n < 4u; ++n) {
    uint select = (format >> (3u * n)) & 7u;
    result[n] = select >= 4u ? rgba[select & 3u] : select == 1u ? constant : 0u;
  }
  return result;
}

uvec4 lw_fmt_pack(const in uint x, const in uint y, const in uint z, const in uint w,
                  const in uint format, const in uint mode) {
  uvec4 data = uvec4(x, y, z, w), widths = format_widths(format_code(format)), raw = uvec4(0u);
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
