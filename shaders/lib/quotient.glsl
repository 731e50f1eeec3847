// f32 quotients and roots, rounded to nearest even, for devices whose sums, products and fused
// multiply-adds are exact and whose own quotients and roots are approximations (Vulkan allows 2.5 and
// 2 ulp): the seed. It is improved once; then the exact residual says whether the neighbour is nearer.
#ifndef FUSED
#define FUSED(a, b, c) fma(a, b, c)
#define SEED(x) (x)  // tests put the errors in that drivers may make
#endif

/// Finite x, not zero, is the result * 2^e, which lies in [1, 2).
float unit_mantissa(uint x, out int e) {
  uint m;
  nearest_unpack(x, e, m);
  e += 31;
  return uintBitsToFloat(0x3f800000u | ((m >> 8) & 0x7fffffu));
}

/// The float behind q on the side of `residual`.
float towards(float q, float residual) {
  return uintBitsToFloat(floatBitsToUint(q) + pick(residual > 0.0, 1u, 0xffffffffu));
}

/// x / y for both in [1, 2), rounded to nearest; `inverse` is about 1 / y, `missing` how the result compares
/// with the exact quotient: 1 too small, -1 too large, 0 exact.
float nearest_quotient(float x, float y, float inverse, out int missing) {
  precise float q = x * inverse;
  q = FUSED(FUSED(-q, y, x), inverse, q);
  precise float residual = FUSED(-q, y, x);
  const float next = towards(q, residual);
  precise float gap = abs(next - q) * y;  // between the two residuals
  precise float twice = abs(residual) + abs(residual);
  const bool beyond = twice > gap;
  missing = residual == 0.0 ? 0 : (residual > 0.0) != beyond ? 1 : -1;
  return beyond ? next : q;
}

/// The root of x in [1, 4), rounded to nearest, and about its reciprocal.
float nearest_root(float x, out float inverse) {
  inverse = SEED(inversesqrt(x));
  precise float half_ = 0.5 * inverse, s = x * inverse;
  s = FUSED(FUSED(-s, s, x), half_, s);
  precise float residual = FUSED(-s, s, x);
  const float next = towards(s, residual);
  // Half way to the neighbour the residual is s * gap and a little, and no residual lies between.
  precise float bound = s * abs(next - s);
  return residual > bound || -residual >= bound ? next : s;
}
/// Positive x = the result * 4^e, which lies in [1, 4).
float root_mantissa(uint x, out int e) {
  int twice;
  const float m = unit_mantissa(x, twice);
  e = twice >> 1;
  return uintBitsToFloat(floatBitsToUint(m) + (uint(twice & 1) << 23));
}
/// What has no root: a word of 1 for NaN and negative numbers, but not for -0.
uint has_no_root(uint a) { return is_nan_word(a) | ((a >> 31) & (is_zero_word(a) ^ 1u)); }

/// q * 2^e to f32 for 0.5 <= q < 2, which is too small by something below half an ulp (missing = 1), too
/// large (-1) or exact. Only numbers that become subnormal are rounded here.
uint quotient_round(float q, int e, int missing) {
  const uint bits = floatBitsToUint(q);
  const int place = e + int(bits >> 23);
  const uint quarters = (((bits & 0x7fffffu) | 0x800000u) << 2) + uint(missing);
  const uint drop = uint(clamp(1 - place, 0, 26)) + 2u;
  const uint lost = quarters << (32u - drop);
  uint kept = quarters >> drop;
  kept += pick(lost > 0x80000000u - (kept & 1u), 1u, 0u);
  return pick(place > 254, 0x7f800000u, kept + (uint(max(place - 1, 0)) << 23));
}

uint lw_fdiv_fma_f32(const in uint a, const in uint b) {
  int ea, eb, missing;
  const float x = unit_mantissa(a, ea), y = unit_mantissa(b, eb);
  precise float inverse = SEED(1.0 / y);
  const float q = nearest_quotient(x, y, inverse, missing);
  const uint finite = quotient_round(q, ea - eb, missing);
  const uint sign = (a ^ b) & 0x80000000u;
  const uint zero_a = is_zero_word(a), zero_b = is_zero_word(b);
  const uint inf_a = is_inf_word(a), inf_b = is_inf_word(b);
  const uint invalid = is_nan_word(a) | is_nan_word(b) | (zero_a & zero_b) | (inf_a & inf_b);
  const uint usual = pick((zero_a | inf_b) != 0u, sign, sign | finite);
  return nearest_special(usual, invalid, zero_b | inf_a, sign | 0x7f800000u);
}

uint lw_frcp_fma_f32(const in uint a) { return lw_fdiv_fma_f32(0x3f800000u, a); }

uint lw_fsqrt_fma_f32(const in uint a) {
  int e;
  float inverse;
  const float s = nearest_root(root_mantissa(a, e), inverse);
  const uint finite = floatBitsToUint(s) + (uint(e) << 23);
  return nearest_special(pick(is_zero_word(a) != 0u, a, finite), has_no_root(a), is_inf_word(a), a);
}

/// Two roundings, as in lw_frsqrt_approx_f32. The result is never subnormal.
uint lw_frsqrt_fma_f32(const in uint a) {
  int e, missing;
  float inverse;
  const float s = nearest_root(root_mantissa(a, e), inverse);
  const uint finite = floatBitsToUint(nearest_quotient(1.0, s, inverse, missing)) - (uint(e) << 23);
  const uint zero = is_zero_word(a);
  const uint usual = pick(is_inf_word(a) != 0u, 0u, finite);
  return nearest_special(usual, has_no_root(a), zero, (a & 0x80000000u) | 0x7f800000u);
}
