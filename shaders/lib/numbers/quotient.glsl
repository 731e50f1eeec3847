// f32 quotients and roots, rounded to nearest even, for devices whose sums, products and fused
// multiply-adds are exact and whose own quotients and roots are approximations (Vulkan allows 2.5 and
// 2 ulp). Nothing here depends on these: what begins is a subtraction from the bits.
#ifndef FUSED
#define FUSED(a, b, c) fma(a, b, c)
#endif

const uint ONE = 0x3f800000u, INFINITY_BITS = 0x7f800000u, FRACTION = 0x7fffffu;

/// 1 / y, rounded to nearest, where no exponent comes near its ends. It scales with y, so that all
/// fractions stand for all numbers: each was tried (docs/numerics.md). The second step is of third order;
/// the first one is made too large by 0.003, so that what the last one gets for a fraction of all ones,
/// whose reciprocal is next to the middle of two numbers, is on the right side.
float nearest_inverse(const in float y) {
  precise float r = uintBitsToFloat(0x7ef40000u - floatBitsToUint(y));
  precise float error = FUSED(-y, r, 1.003);
  r = FUSED(error, r, r);
  error = FUSED(-y, r, 1.0);
  r = FUSED(FUSED(error, error, error), r, r);
  error = FUSED(-y, r, 1.0);
  return FUSED(error, r, r);
}

/// x / y for y in [1, 2) and y <= x < 2 y, rounded to multiples of 2^(coarser - 23), ties to even;
/// `coarser` is 0 to 25. The result counts these multiples, with `coarser` = 0 those above 1.
uint nearest_quotient(const in float x, const in float y, const in float inverse,
                      const in uint coarser) {
  precise float q = x * inverse;
  q = FUSED(FUSED(-q, y, x), inverse, q);
  const uint exponent = coarser << 23;
  // In the sum's last place is just what counts.
  const float magic = uintBitsToFloat(pick(coarser != 0u, ONE + exponent, 0u));
  precise float rounded = q + magic;
  precise float kept = rounded - magic;
  precise float residual = FUSED(-kept, y, x);
  precise float scaled = residual * 16777216.0;
  // Half way to the neighbour the residual is y * 2^(coarser - 24).
  const float half_way = uintBitsToFloat(floatBitsToUint(y) + exponent);
  const uint up = uint(scaled > half_way), down = uint(scaled < -half_way);
  return floatBitsToUint(rounded) + up - down - (ONE + exponent);
}

/// The root of x, rounded to nearest, where no exponent comes near its ends: every x in [1, 4) was tried,
/// and 4 x gives twice that. `root` and `half_` approach it and half of its reciprocal.
float nearest_root(const in float x) {
  const float seed = uintBitsToFloat(0x5f3759dfu - (floatBitsToUint(x) >> 1));
  precise float root = x * seed, half_ = 0.5 * seed;
  precise float error = FUSED(-half_, root, 0.5);
  root = FUSED(root, error, root);
  half_ = FUSED(half_, error, half_);
  error = FUSED(-half_, root, 0.5);
  precise float larger = error * 1.5;
  const float third_order = FUSED(larger, error, error);
  root = FUSED(root, third_order, root);
  half_ = FUSED(half_, third_order, half_);
  return FUSED(FUSED(-root, root, x), half_, root);
}
/// Positive x, not zero, is the result * 4^e; the result lies in [1, 4).
float root_mantissa(uint x, out int e) {
  precise float up = uintBitsToFloat(x) * 16777216.0;
  const uint from_one = pick(x < 0x800000u, floatBitsToUint(up) - (24u << 23), x) - ONE;
  e = int(from_one) >> 24;
  return uintBitsToFloat(ONE + (from_one & 0xffffffu));
}
/// The root's result but for numbers that have none, zeros and infinity.
uint root_special(const in uint finite, const in uint a, const in uint zero,
                  const in uint infinity) {
  const uint beyond = pick(a == INFINITY_BITS, infinity, NAN32);
  const uint usual = pick(a >= INFINITY_BITS, beyond, finite);
  return pick((a & 0x7fffffffu) == 0u, zero, usual);
}

uint lw_fdiv_fma_f32(const in uint a, const in uint b) {
  const uint size_a = a & 0x7fffffffu, size_b = b & 0x7fffffffu;
  // Where one is subnormal, both go up; what becomes infinite then makes the quotient so, or zero.
  const float scale = uintBitsToFloat(pick(min(size_a, size_b) < 0x800000u, ONE + (24u << 23), ONE));
  precise float x = uintBitsToFloat(size_a) * scale, y = uintBitsToFloat(size_b) * scale;
  // The difference of the bits is that of the exponents over that of the mantissas, with its borrow:
  // the exponent of a quotient in [1, 2), and the dividend for it.
  const uint ratio = floatBitsToUint(x) - floatBitsToUint(y);
  const int e = int(ratio) >> 23;
  const uint divisor = ONE | (floatBitsToUint(y) & FRACTION);
  const float dividend = uintBitsToFloat(divisor + (ratio & FRACTION));
  const float inverse = nearest_inverse(uintBitsToFloat(divisor));
  const uint coarser = uint(clamp(-126 - e, 0, 25));
  const uint count = nearest_quotient(dividend, uintBitsToFloat(divisor), inverse, coarser);
  const uint finite = min(count + (uint(max(e + 127, 0)) << 23), INFINITY_BITS);
  const bool zero = either(size_a == 0u, size_b == INFINITY_BITS);
  const bool infinite = either(size_b == 0u, size_a == INFINITY_BITS);
  const bool invalid = either(both(zero, infinite), max(size_a, size_b) > INFINITY_BITS);
  const uint size = pick(infinite, INFINITY_BITS, pick(zero, 0u, finite));
  return pick(invalid, NAN32, size | ((a ^ b) & 0x80000000u));
}

uint lw_frcp_fma_f32(const in uint a) { return lw_fdiv_fma_f32(ONE, a); }

uint lw_fsqrt_fma_f32(const in uint a) {
  int e;
  const float s = nearest_root(root_mantissa(a, e));
  return root_special(floatBitsToUint(s) + (uint(e) << 23), a, a, a);
}

/// Two roundings, as in lw_frsqrt_approx_f32. The result is never subnormal.
uint lw_frsqrt_fma_f32(const in uint a) {
  int e;
  const float inverse = nearest_inverse(nearest_root(root_mantissa(a, e)));
  return root_special(floatBitsToUint(inverse) - (uint(e) << 23), a, a | INFINITY_BITS, 0u);
}

// The same for usual numbers in few steps: with the nearest reciprocal Markstein's theorem holds, so that
// where no exponent comes near its ends the last step rounds correctly. All else takes the slow path.

uint quotient_of(const in uint a, const in uint b) {
  const float x = uintBitsToFloat(a), y = uintBitsToFloat(b);
  const float r = nearest_inverse(y);
  precise float q = x * r;
  q = FUSED(FUSED(-y, q, x), r, q);
  q = FUSED(FUSED(-y, q, x), r, q);
  return floatBitsToUint(q);
}

// Whoever calls lw_*_usual_f32 asks lw_*_is_usual_f32 first, and takes the slow path else.
bool lw_fdiv_is_usual_f32(const in uint a, const in uint b) {
  return max((a << 1) - (64u << 24), (b << 1) - (64u << 24)) < 124u << 24;
}
uint lw_fdiv_usual_f32(const in uint a, const in uint b) { return quotient_of(a, b); }
bool lw_frcp_is_usual_f32(const in uint a) { return (a << 1) - (2u << 24) < 248u << 24; }
uint lw_frcp_usual_f32(const in uint a) {
  return floatBitsToUint(nearest_inverse(uintBitsToFloat(a)));
}
bool lw_fsqrt_is_usual_f32(const in uint a) { return a - (32u << 23) < 188u << 23; }
uint lw_fsqrt_usual_f32(const in uint a) { return floatBitsToUint(nearest_root(uintBitsToFloat(a))); }
bool lw_frsqrt_is_usual_f32(const in uint a) { return lw_fsqrt_is_usual_f32(a); }
uint lw_frsqrt_usual_f32(const in uint a) {
  return floatBitsToUint(nearest_inverse(nearest_root(uintBitsToFloat(a))));
}

// fma toward zero, down or up where the addend is the larger part and the nearest result is no more
// than twice as far from 0, and no less than half as far: their difference is exact (Sterbenz), and
// with it the sign of what the nearest result is off.

float nearest_and_rest(const in float x, const in float y, const in float z, out float rest) {
  precise float r = FUSED(x, y, z);
  precise float between = z - r;
  rest = FUSED(x, y, between);
  return r;
}
/// `flags` has the direction.
bool lw_ffma_toward_is_usual_f32(const in uint a, const in uint b, const in uint c, const in uint flags) {
  const float x = uintBitsToFloat(a), y = uintBitsToFloat(b), z = uintBitsToFloat(c);
  precise float r = FUSED(x, y, z);
  precise float between = z - r, product = x * y;
  const bool close = both(abs(between) < abs(z), abs(between) < abs(r));
  // 2^-70: no rest is subnormal, and a product that cannot be seen is none.
  const bool seen = either(abs(product) >= 8.470329e-22, either(x == 0.0, y == 0.0));
  const bool middle = (c & 0x7fffffffu) - (67u << 23) < 160u << 23;
  return both(both(close, seen), middle);
}
uint lw_ffma_toward_usual_f32(const in uint a, const in uint b, const in uint c, const in uint flags) {
  float rest;
  const uint r = floatBitsToUint(
      nearest_and_rest(uintBitsToFloat(a), uintBitsToFloat(b), uintBitsToFloat(c), rest));
  const bool negative = neg32(c);
  const bool above = rest < 0.0, below = rest > 0.0;
  switch (flags & 7u) {
    case RM: return pick(above, negative ? r + 1u : r - 1u, r);
    case RP: return pick(below, negative ? r - 1u : r + 1u, r);
    default: return r - uint(negative ? below : above);
  }
}
