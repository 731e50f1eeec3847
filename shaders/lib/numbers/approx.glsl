// The operations that PTX calls approximate. Quotients, reciprocals and square roots are correctly
// rounded; the others stay inside the error bounds of the PTX manual on every device: they need
// only sums and products that round to nearest, never the driver's own functions.

uint nearest(const in uint flags) { return flags & ~7u; }

uint lw_fdiv_approx_f32(const in uint a, const in uint b, const in uint flags) {
  return lw_fdiv_f32(a, b, nearest(flags));
}
uint lw_frcp_approx_f32(const in uint a, const in uint flags) { return lw_frcp_f32(a, nearest(flags)); }
uint lw_fsqrt_approx_f32(const in uint a, const in uint flags) {
  return lw_fsqrt_f32(a, nearest(flags));
}
uint lw_fdiv_approx_f16(const in uint a, const in uint b, const in uint flags) {
  return lw_fdiv_f16(a, b, nearest(flags));
}
uint lw_frcp_approx_f16(const in uint a, const in uint flags) { return lw_frcp_f16(a, nearest(flags)); }
uint lw_fsqrt_approx_f16(const in uint a, const in uint flags) {
  return lw_fsqrt_f16(a, nearest(flags));
}
B64 lw_fdiv_approx_f64(const in B64 a, const in B64 b, const in uint flags) {
  return soft_div64(a, b, nearest(flags));
}
B64 lw_frcp_approx_f64(const in B64 a, const in uint flags) { return lw_frcp_f64(a, nearest(flags)); }
B64 lw_fsqrt_approx_f64(const in B64 a, const in uint flags) {
  return soft_sqrt64(a, nearest(flags));
}

// Two roundings of half an ulp each.
uint lw_frsqrt_approx_f32(const in uint a, const in uint flags) {
  uint root = small_sqrt(in32(a, flags), false, RN);
  return small_div(0x3f800000u, root, false, nearest(flags));
}
uint lw_frsqrt_approx_f16(const in uint a, const in uint flags) {
  uint root = small_sqrt(arg16(a, flags), false, RN);
  return small_div(0x3f800000u, root, true, nearest(flags));
}
B64 lw_frsqrt_approx_f64(const in B64 a, const in uint flags) {
  return soft_div64(b64(0u, 0x3ff00000u), soft_sqrt64(a, RN), nearest(flags));
}

/// 2^x without its exponent, 0.7 to 1.42, for x up to 2^21; the whole number nearest to x is
/// `shifted` less 12582912.
float power_of_fraction(const in float x, out float shifted) {
  precise float up = x + 12582912.0;
  precise float whole = up - 12582912.0;
  precise float f = x - whole;  // -0.5 .. 0.5
  precise float p = 1.5252734e-5;
  p = p * f + 1.5403530e-4;
  p = p * f + 1.3333558e-3;
  p = p * f + 9.6181291e-3;
  p = p * f + 5.5504109e-2;
  p = p * f + 2.4022651e-1;
  p = p * f + 6.9314718e-1;
  p = p * f + 1.0;
  shifted = up;
  return p;
}

/// 2^x, rounded at the end like an exact result (so that it may become subnormal).
uint small_exp2(const in uint a, const in bool half_, const in uint flags) {
  if (nan32(a)) return result_nan(half_, flags);
  float x = uintBitsToFloat(a);
  if ((a & 0x7fffffffu) > 0x43200000u)  // beyond +-160
    return neg32(a) ? round_small(false, 0, 0u, half_, flags) : result_inf(false, half_, flags);
  if ((a & 0x7fffffffu) < 0x33000000u) x = 0.0;
  float shifted;
  const float p = power_of_fraction(x, shifted);
  precise float whole = shifted - 12582912.0;
  int e;
  uint m;
  unpack32(floatBitsToUint(p), e, m);
  return round_small(false, e + int(whole), m, half_, nearest(flags));
}

float log2_of_parts(const in float mantissa, const in float exponent) {
  precise float t = mantissa - 1.0;
  precise float s = t / (mantissa + 1.0);
  precise float z = s * s;
  precise float p = 0.32059888;
  p = p * z + 0.41219859;
  p = p * z + 0.57707802;
  p = p * z + 0.96179669;
  p = p * z + 2.8853901;
  precise float y = p * s + exponent;
  return y;
}
/// log2 of the mantissa by the series of atanh; the exponent is added at the end.
uint small_log2(const in uint a, const in bool half_, const in uint flags) {
  if (nan32(a) || (neg32(a) && !zero32(a))) return result_nan(half_, flags);
  if (zero32(a)) return result_inf(true, half_, flags);
  if (inf32(a)) return result_inf(false, half_, flags);
  int e;
  uint m;
  unpack32_top(a, e, m);
  e += 31;
  uint exponent = 0x3f800000u;
  if (m > 0xb504f333u) {  // above sqrt(2): halve the mantissa
    exponent = 0x3f000000u;
    e += 1;
  }
  const float y = log2_of_parts(uintBitsToFloat(exponent | ((m >> 8) & 0x7fffffu)), float(e));
  uint bits = floatBitsToUint(y);
  return half_ ? narrow16(bits, nearest(flags)) : finish(bits, false, flags);
}

/// Word `w` of four, w below 4.
uint word_of(const in uint w, const in uint a, const in uint b, const in uint c, const in uint d) {
  bool odd = (w & 1u) != 0u;
  return pick((w & 2u) != 0u, pick(odd, d, c), pick(odd, b, a));
}
uint funnel(const in uint high, const in uint low, const in uint n) {
  return (high << n) | ((low >> 1) >> (31u - n));
}
/// m * 2^-62 for m up to 2^62, to nearest even. Nothing here is subnormal. Neither this nor the
/// reduction below branches or indexes an array: compilers for CPUs, which inline every call, took a
/// quarter of a second for each sine.
uint fraction_of(const in B64 m) {
  uint lz = clz64(m), top = top32_jam(shl64(m, lz)), kept = top >> 8;
  kept += pick((top & 0xffu) + (kept & 1u) > 0x80u, 1u, 0u);
  return pick(zero64(m), 0u, kept + ((127u - lz) << 23));
}

/// x = quadrant * pi/2 + r with |r| <= pi/4, for every finite x: the fraction of x * 2/pi is
/// computed from the bits of 2/pi that matter.
float reduce_angle(const in uint a, out uint quadrant) {
  quadrant = 0u;
  precise float r = uintBitsToFloat(a);
  if ((a & 0x7fffffffu) > 0x3f490fdbu) {
    int e;
    uint m;
    unpack32(a, e, m);
    uint skip = uint(max(e - 2, 0));  // these bits of 2/pi only add multiples of 4
    uint w = skip >> 5, s = skip & 31u;
    uint w0 = word_of(w, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u);
    uint w1 = word_of(w, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u);
    uint w2 = word_of(w, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
    uint w3 = word_of(w, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
    B64 p2 = mulwide32(m, funnel(w2, w3, s));
    B64 p1 = add64(mulwide32(m, funnel(w1, w2, s)), b64(hi64(p2), 0u));
    B64 p0 = add64(mulwide32(m, funnel(w0, w1, s)), b64(hi64(p1), 0u));
    // The product is p0 : lo(p1) : lo(p2), 120 bits; drop what counts whole turns.
    uint up = uint(30 + min(e, 2));
    B64 top = or64(shl64(p0, up), shr64(b64(lo64(p2), lo64(p1)), 64u - up));
    quadrant = hi64(add64(top, b64(0u, 0x20000000u))) >> 30;
    B64 rest = sub64(top, b64(0u, quadrant << 30));
    bool neg = sign64(rest);
    uint fraction = fraction_of(pick(neg, neg64(rest), rest));
    quadrant = pick(neg32(a), (0u - quadrant) & 3u, quadrant);
    fraction |= pick(neg != neg32(a), 0x80000000u, 0u);
    r = uintBitsToFloat(fraction) * 1.57079637;
  }
  return r;
}
/// sin(x + turn * pi/2)
uint small_sine(const in uint a, const in uint turn, const in bool half_, const in uint flags) {
  if (nan32(a) || inf32(a)) return result_nan(half_, flags);
  if (turn == 0u && (a & 0x7fffffffu) < 0x39000000u)  // the argument itself, subnormals too
    return half_ ? narrow16(a, nearest(flags)) : finish(a, false, flags);
  uint quadrant;
  precise float r = reduce_angle(a, quadrant);
  quadrant = (quadrant + turn) & 3u;
  precise float z = (floatBitsToUint(r) & 0x7fffffffu) < 0x20000000u ? 0.0 : r * r;
  precise float y;
  if ((quadrant & 1u) == 0u) {
    y = 2.7557319e-6;
    y = y * z - 1.9841270e-4;
    y = y * z + 8.3333333e-3;
    y = y * z - 1.6666667e-1;
    y = y * z * r + r;
  } else {
    y = 2.4801587e-5;
    y = y * z - 1.3888889e-3;
    y = y * z + 4.1666667e-2;
    y = y * z - 0.5;
    y = y * z + 1.0;
  }
  uint bits = floatBitsToUint(y) ^ ((quadrant & 2u) != 0u ? 0x80000000u : 0u);
  return half_ ? narrow16(bits, nearest(flags)) : finish(bits, false, flags);
}

uint small_tanh(const in uint a, const in bool half_, const in uint flags) {
  if (nan32(a)) return result_nan(half_, flags);
  uint magnitude = a & 0x7fffffffu, bits = 0x3f800000u;
  precise float x = uintBitsToFloat(magnitude);
  if (magnitude < 0x39000000u) {
    bits = magnitude;
  } else if (magnitude < 0x3f0ccccdu) {  // 0.55
    precise float z = x * x;
    precise float p = 0.021869489;
    p = p * z - 0.053968254;
    p = p * z + 0.13333333;
    p = p * z - 0.33333333;
    precise float y = p * z * x + x;
    bits = floatBitsToUint(y);
  } else if (magnitude < 0x41180000u) {  // 9.5
    precise float scaled = x * 2.8853901;
    precise float y = 1.0 - 2.0 / (uintBitsToFloat(small_exp2(floatBitsToUint(scaled), false, RN)) + 1.0);
    bits = floatBitsToUint(y);
  }
  bits |= a & 0x80000000u;
  return half_ ? narrow16(bits, nearest(flags)) : finish(bits, false, flags);
}

uint lw_fex2_approx_f32(const in uint a, const in uint flags) {
  return small_exp2(in32(a, flags), false, flags);
}
uint lw_fex2_approx_f16(const in uint a, const in uint flags) {
  return small_exp2(arg16(a, flags), true, flags);
}
uint lw_flg2_approx_f32(const in uint a, const in uint flags) {
  return small_log2(in32(a, flags), false, flags);
}
uint lw_flg2_approx_f16(const in uint a, const in uint flags) {
  return small_log2(arg16(a, flags), true, flags);
}
uint lw_fsin_approx_f32(const in uint a, const in uint flags) {
  return small_sine(in32(a, flags), 0u, false, flags);
}
uint lw_fsin_approx_f16(const in uint a, const in uint flags) {
  return small_sine(arg16(a, flags), 0u, true, flags);
}
uint lw_fcos_approx_f32(const in uint a, const in uint flags) {
  return small_sine(in32(a, flags), 1u, false, flags);
}
uint lw_fcos_approx_f16(const in uint a, const in uint flags) {
  return small_sine(arg16(a, flags), 1u, true, flags);
}
uint lw_ftanh_approx_f32(const in uint a, const in uint flags) {
  return small_tanh(in32(a, flags), false, flags);
}
uint lw_ftanh_approx_f16(const in uint a, const in uint flags) {
  return small_tanh(arg16(a, flags), true, flags);
}

// Short forms of the two for usual operands; whoever calls lw_*_usual_f32 asks lw_*_is_usual_f32 first.

/// The result is normal: its exponent moves, and nothing is rounded. What is below 2^-25 needs no
/// care, as all that it is multiplied by is below 1, and 1 is added.
bool lw_fex2_is_usual_f32(const in uint a) { return abs(uintBitsToFloat(a)) <= 125.0; }
uint lw_fex2_usual_f32(const in uint a) {
  float shifted;
  const float p = power_of_fraction(uintBitsToFloat(a), shifted);
  return floatBitsToUint(p) + (floatBitsToUint(shifted) << 23);
}

/// Of all else, where products round to nearest: the first of these is exact, the second may overflow or
/// become subnormal.
uint lw_fex2_unusual_f32(const in uint a) {
  float shifted;
  const float p = power_of_fraction(uintBitsToFloat(a), shifted);
  const int e = int(floatBitsToUint(shifted) - 0x4b400000u), half_ = e >> 1;
  precise float power = p * uintBitsToFloat(uint(half_ + 127) << 23);
  power *= uintBitsToFloat(uint(e - half_ + 127) << 23);
  const uint beyond = pick(neg32(a), 0u, INFINITY_BITS);
  const uint result = pick((a & 0x7fffffffu) > 0x43200000u, beyond, floatBitsToUint(power));
  return pick(nan32(a), NAN32, result);
}

/// Positive and normal. From the first mantissa above that of the root of 2 on they are halved.
bool lw_flg2_is_usual_f32(const in uint a) { return a - 0x800000u < 0x7f000000u; }
uint lw_flg2_usual_f32(const in uint a) {
  const int e = int(a - 0x3f3504f4u) >> 23;
  return floatBitsToUint(log2_of_parts(uintBitsToFloat(a - (uint(e) << 23)), float(e)));
}

// Where the device's own functions are taken (policy float.approx=device): up to two turns, as PTX has bounds there; of
// a sine no subnormal number, which a device may take as a zero.

bool lw_fsin_is_usual_f32(const in uint a) {
  const uint size = a & 0x7fffffffu;
  return both(size <= 0x40c90fdbu, size - 1u >= 0x7fffffu);
}
bool lw_fcos_is_usual_f32(const in uint a) { return (a & 0x7fffffffu) <= 0x40c90fdbu; }
