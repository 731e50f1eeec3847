// Correctly rounded f32 and f16 arithmetic in integers: every rounding direction, subnormals
// included, the same on every device. Operands are f32 encodings; half_ says what the result is.

uint small_add(uint a, uint b, const in bool half_, const in uint flags) {
  if (nan32(a) || nan32(b)) return result_nan(half_, flags);
  if ((a << 1) < (b << 1)) {  // the larger magnitude first
    uint t = a;
    a = b;
    b = t;
  }
  bool neg = neg32(a), same = neg == neg32(b);
  if (inf32(a)) return inf32(b) && !same ? result_nan(half_, flags) : result_inf(neg, half_, flags);
  int ea, eb;
  uint ma, mb;
  unpack32(a, ea, ma);
  unpack32(b, eb, mb);
  mb = shr32_jam(mb << 7, uint(ea - eb));
  uint m = same ? (ma << 7) + mb : (ma << 7) - mb;
  if (m == 0u && !same) neg = zero_sum_sign(flags);
  return round_small(neg, ea - 7, m, half_, flags);
}

uint small_mul(const in uint a, const in uint b, const in bool half_, const in uint flags) {
  bool neg = neg32(a ^ b);
  if (nan32(a) || nan32(b)) return result_nan(half_, flags);
  if (inf32(a) || inf32(b))
    return zero32(a) || zero32(b) ? result_nan(half_, flags) : result_inf(neg, half_, flags);
  if (zero32(a) || zero32(b)) return round_small(neg, 0, 0u, half_, flags);
  int ea, eb;
  uint ma, mb, hi, lo;
  unpack32_top(a, ea, ma);
  unpack32_top(b, eb, mb);
  umulExtended(ma, mb, hi, lo);
  return round_small(neg, ea + eb + 32, hi | (lo != 0u ? 1u : 0u), half_, flags);
}

uint small_fma(const in uint a, const in uint b, const in uint c, const in bool half_,
               const in uint flags) {
  bool neg = neg32(a ^ b);
  if (nan32(a) || nan32(b) || nan32(c)) return result_nan(half_, flags);
  if (inf32(a) || inf32(b)) {
    bool invalid = zero32(a) || zero32(b) || (inf32(c) && neg32(c) != neg);
    return invalid ? result_nan(half_, flags) : result_inf(neg, half_, flags);
  }
  if (inf32(c)) return result_inf(neg32(c), half_, flags);
  if (zero32(a) || zero32(b)) return small_add(neg ? 0x80000000u : 0u, c, half_, flags);
  int ea, eb, ec;
  uint ma, mb, mc;
  unpack32_top(a, ea, ma);
  unpack32_top(b, eb, mb);
  // The product's leading bit goes to 62 (its low 16 bits are zero), the addend's too.
  B64 p = mulwide32(ma, mb);
  int ep = ea + eb;
  if (sign64(p)) {
    p = shr64(p, 1u);
    ep += 1;
  }
  if (zero32(c)) return round_small64(neg, ep, p, half_, flags);
  unpack32_top(c, ec, mc);
  B64 q = b64(0u, mc >> 1);
  q = or64(q, b64((mc & 1u) << 31, 0u));
  ec -= 31;
  bool same = neg32(c) == neg;
  if (ec > ep || (ec == ep && lt64(p, q))) {
    B64 t = p;
    p = q;
    q = t;
    int te = ep;
    ep = ec;
    ec = te;
    neg = neg32(c);
  }
  q = shr64_jam(q, uint(ep - ec));
  B64 m = same ? add64(p, q) : sub64(p, q);
  if (zero64(m)) neg = zero_sum_sign(flags);
  return round_small64(neg, ep, m, half_, flags);
}

uint small_div(const in uint a, const in uint b, const in bool half_, const in uint flags) {
  bool neg = neg32(a ^ b);
  if (nan32(a) || nan32(b) || (inf32(a) && inf32(b)) || (zero32(a) && zero32(b)))
    return result_nan(half_, flags);
  if (inf32(a) || zero32(b)) return result_inf(neg, half_, flags);
  if (inf32(b) || zero32(a)) return round_small(neg, 0, 0u, half_, flags);
  int ea, eb;
  uint ma, mb;
  unpack32_top(a, ea, ma);
  unpack32_top(b, eb, mb);
  ma >>= 8;
  mb >>= 8;
  // Schoolbook division, 7 quotient bits a digit: the remainder stays below 2^24.
  uint q = ma / mb, r = ma % mb;
  for (int i = 0; i < 4; ++i) {
    r <<= 7;
    q = (q << 7) | (r / mb);
    r = r % mb;
  }
  return round_small(neg, ea - eb - 28, q | (r != 0u ? 1u : 0u), half_, flags);
}

uint small_sqrt(const in uint a, const in bool half_, const in uint flags) {
  if (zero32(a)) return round_small(neg32(a), 0, 0u, half_, flags);
  if (nan32(a) || neg32(a)) return result_nan(half_, flags);
  if (inf32(a)) return result_inf(false, half_, flags);
  int e;
  uint m;
  unpack32_top(a, e, m);
  if ((e & 1) != 0) {
    m >>= 1;
    e += 1;
  }
  // Digit by digit, two bits of the radicand a step: 32 of m, then zeros.
  uint root = 0u, rem = 0u;
  for (int i = 0; i < 27; ++i) {
    rem = (rem << 2) | (m >> 30);
    m <<= 2;
    uint trial = (root << 2) | 1u;
    root <<= 1;
    if (rem >= trial) {
      rem -= trial;
      root |= 1u;
    }
  }
  // 54 radicand bits were used, 22 more than m has.
  return round_small(false, (e - 22) / 2, root | (rem != 0u ? 1u : 0u), half_, flags);
}

/// To an integral value; the result is exact, so there is nothing to round afterwards.
uint small_round(const in uint a, const in uint flags) {
  if (nan32(a)) return NAN32;
  int e;
  uint m;
  unpack32(a, e, m);
  if (inf32(a) || m == 0u || e >= 0) return a;
  uint drop = uint(min(-e, 33));
  uint kept = drop > 31u ? 0u : m >> drop;
  uint rest = drop > 32u ? 1u : drop == 32u ? m : m << (32u - drop);
  if (rounds_up(neg32(a), kept, rest, flags)) kept += 1u;
  return round_small(neg32(a), 0, kept, false, RN);
}

// Orders all numbers like unsigned integers, -0 just below +0.
uint key32(const in uint x) { return x ^ (uint(int(x) >> 31) | 0x80000000u); }

// Without branches: compilers for CPUs copy compares into loops, and SwiftShader's takes twice as long
// for each pair of branches of equal length that follow each other there.
bool fcompare(const in bool unordered, const in bool less, const in bool equal,
              const in uint cond) {
  bool ordered = compare_result(less, equal, pick(cond > 5u, cond - 6u, cond));
  bool result = mix(ordered, cond > 5u, unordered);
  return mix(mix(result, !unordered, cond == 12u), unordered, cond == 13u);
}
bool small_compare(const in uint a, const in uint b, const in uint cond) {
  bool equal = either(a == b, both(zero32(a), zero32(b)));
  bool less = both(key32(a) < key32(b), !equal);
  return fcompare(either(nan32(a), nan32(b)), less, equal, cond);
}
uint small_minmax(const in uint a, const in uint b, const in bool maximum, const in uint flags) {
  if (nan32(a) || nan32(b)) {
    if ((flags & NAN_WINS) != 0u || (nan32(a) && nan32(b))) return NAN32;
    return nan32(a) ? b : a;
  }
  return (key32(a) < key32(b)) != maximum ? a : b;
}

uint lw_ftz_f32(const in uint a) { return flush32(a); }
uint lw_sat_f32(const in uint a) { return finish(a, false, SAT); }
/// A product or fma to nearest even, rounded as usual, whose operands are flushed.
uint lw_ftz_fmul_f32(const in uint a, const in uint b, const in uint rounded) {
  return (rounded & 0x7fffffffu) == 0x00800000u ? small_mul(a, b, false, RN | FTZ) : flush32(rounded);
}
uint lw_ftz_ffma_f32(const in uint a, const in uint b, const in uint c, const in uint rounded) {
  return (rounded & 0x7fffffffu) == 0x00800000u ? small_fma(a, b, c, false, RN | FTZ) : flush32(rounded);
}
uint lw_fadd_f32(const in uint a, const in uint b, const in uint flags) {
  return small_add(in32(a, flags), in32(b, flags), false, flags);
}
uint lw_fsub_f32(const in uint a, const in uint b, const in uint flags) {
  return small_add(in32(a, flags), in32(b, flags) ^ 0x80000000u, false, flags);
}
uint lw_fmul_f32(const in uint a, const in uint b, const in uint flags) {
  return small_mul(in32(a, flags), in32(b, flags), false, flags);
}
uint lw_ffma_f32(const in uint a, const in uint b, const in uint c, const in uint flags) {
  return small_fma(in32(a, flags), in32(b, flags), in32(c, flags), false, flags);
}
uint lw_fdiv_f32(const in uint a, const in uint b, const in uint flags) {
  return small_div(in32(a, flags), in32(b, flags), false, flags);
}
uint lw_frcp_f32(const in uint a, const in uint flags) {
  return small_div(0x3f800000u, in32(a, flags), false, flags);
}
uint lw_fsqrt_f32(const in uint a, const in uint flags) {
  return small_sqrt(in32(a, flags), false, flags);
}
uint lw_fround_f32(const in uint a, const in uint flags) {
  return finish(small_round(in32(a, flags), flags), false, flags);
}
uint lw_fmin_f32(const in uint a, const in uint b, const in uint flags) {
  return finish(small_minmax(in32(a, flags), in32(b, flags), false, flags), false, flags);
}
uint lw_fmax_f32(const in uint a, const in uint b, const in uint flags) {
  return finish(small_minmax(in32(a, flags), in32(b, flags), true, flags), false, flags);
}
uint lw_fneg_f32(const in uint a, const in uint flags) {
  return finish(a ^ 0x80000000u, false, flags);
}
uint lw_fabs_f32(const in uint a, const in uint flags) {
  return finish(a & 0x7fffffffu, false, flags);
}
bool lw_fcmp_f32(const in uint a, const in uint b, const in uint cond, const in uint flags) {
  return small_compare(in32(a, flags), in32(b, flags), cond);
}
