// Correctly rounded f64 arithmetic in integers, every rounding direction. With float64 on the
// device, round-to-nearest sums and products of ordinary numbers take the native instruction;
// without, sums, products and fma to nearest take the short versions of nearest_wide.glsl.

B64 soft_add64(B64 a, B64 b, const in uint flags) {
  if (is_nan64(a) || is_nan64(b)) return finish64(nan64(), flags);
  if (lt64(shl64(a, 1u), shl64(b, 1u))) {
    B64 t = a;
    a = b;
    b = t;
  }
  bool neg = sign64(a), same = neg == sign64(b);
  if (is_inf64(a)) return finish64(is_inf64(b) && !same ? nan64() : a, flags);
  int ea, eb;
  B64 ma, mb;
  unpack64(a, ea, ma);
  unpack64(b, eb, mb);
  ma = shl64(ma, 10u);
  mb = shr64_jam(shl64(mb, 10u), uint(ea - eb));
  B64 m = same ? add64(ma, mb) : sub64(ma, mb);
  if (zero64(m) && !same) neg = zero_sum_sign(flags);
  return round64(neg, ea - 10, m, flags);
}

/// Product of two non-zero finite numbers: 128 bits hi:lo with bit 126 of it the leading one.
void exact_product(const in B64 a, const in B64 b, out int e, out B64 hi, out B64 lo) {
  int ea, eb;
  B64 ma, mb;
  unpack64_top(a, ea, ma);
  unpack64_top(b, eb, mb);
  uvec4 p = mulwide64(ma, mb);
  lo = b64(p.x, p.y);
  hi = b64(p.z, p.w);
  e = ea + eb;
  if (sign64(hi)) {  // the low bits are zero: 2 x 53 significant ones
    lo = or64(shr64(lo, 1u), shl64(hi, 63u));
    hi = shr64(hi, 1u);
    e += 1;
  }
}

B64 soft_mul64(const in B64 a, const in B64 b, const in uint flags) {
  bool neg = sign64(a) != sign64(b);
  if (is_nan64(a) || is_nan64(b)) return finish64(nan64(), flags);
  if (is_inf64(a) || is_inf64(b))
    return finish64(is_zero64(a) || is_zero64(b) ? nan64() : inf64(neg), flags);
  if (is_zero64(a) || is_zero64(b)) return finish64(signed_zero64(neg), flags);
  int e;
  B64 hi, lo;
  exact_product(a, b, e, hi, lo);
  return round64(neg, e + 64, or64(hi, b64(zero64(lo) ? 0u : 1u, 0u)), flags);
}

B64 soft_fma64(const in B64 a, const in B64 b, const in B64 c, const in uint flags) {
  bool neg = sign64(a) != sign64(b);
  if (is_nan64(a) || is_nan64(b) || is_nan64(c)) return finish64(nan64(), flags);
  if (is_inf64(a) || is_inf64(b)) {
    bool invalid = is_zero64(a) || is_zero64(b) || (is_inf64(c) && sign64(c) != neg);
    return finish64(invalid ? nan64() : inf64(neg), flags);
  }
  if (is_inf64(c)) return finish64(c, flags);
  if (is_zero64(a) || is_zero64(b)) return soft_add64(signed_zero64(neg), c, flags);
  int ep, ec;
  B64 ph, pl, qh, ql = b64(0u, 0u);
  exact_product(a, b, ep, ph, pl);
  if (is_zero64(c)) return round64(neg, ep + 64, or64(ph, b64(zero64(pl) ? 0u : 1u, 0u)), flags);
  unpack64_top(c, ec, qh);
  qh = shr64(qh, 1u);  // 53 significant bits at the top: nothing is lost
  ec -= 63;
  bool same = sign64(c) == neg;
  if (ec > ep || (ec == ep && (lt64(ph, qh) || (eq64(ph, qh) && lt64(pl, ql))))) {
    B64 th = ph, tl = pl;
    ph = qh;
    pl = ql;
    qh = th;
    ql = tl;
    int te = ep;
    ep = ec;
    ec = te;
    neg = sign64(c);
  }
  // Align the smaller one, 128 bits, sticky.
  uint d = uint(ep - ec);
  if (d > 63u) {
    ql = or64(shr64_jam(qh, min(d - 64u, 64u)), b64(zero64(ql) ? 0u : 1u, 0u));
    qh = b64(0u, 0u);
  } else if (d != 0u) {
    ql = or64(shr64_jam(ql, d), shl64(qh, 64u - d));
    qh = shr64(qh, d);
  }
  B64 lo, hi;
  if (same) {
    lo = add64(pl, ql);
    hi = add64(add64(ph, qh), b64(lt64(lo, pl) ? 1u : 0u, 0u));
  } else {
    lo = sub64(pl, ql);
    hi = sub64(sub64(ph, qh), b64(lt64(pl, ql) ? 1u : 0u, 0u));
  }
  if (zero64(hi)) {
    if (zero64(lo)) return finish64(signed_zero64(zero_sum_sign(flags)), flags);
    return round64(neg, ep, lo, flags);
  }
  uint lz = clz64(hi);
  if (lz != 0u) {
    hi = or64(shl64(hi, lz), shr64(lo, 64u - lz));
    lo = shl64(lo, lz);
  }
  return round64(neg, ep + 64 - int(lz), or64(hi, b64(zero64(lo) ? 0u : 1u, 0u)), flags);
}

B64 soft_div64(const in B64 a, const in B64 b, const in uint flags) {
  bool neg = sign64(a) != sign64(b);
  if (is_nan64(a) || is_nan64(b) || (is_inf64(a) && is_inf64(b)) || (is_zero64(a) && is_zero64(b)))
    return finish64(nan64(), flags);
  if (is_inf64(a) || is_zero64(b)) return finish64(inf64(neg), flags);
  if (is_inf64(b) || is_zero64(a)) return finish64(signed_zero64(neg), flags);
  int ea, eb;
  B64 r, d, q = b64(0u, 0u);
  unpack64_top(a, ea, r);
  unpack64_top(b, eb, d);
  r = shr64(r, 1u);
  d = shr64(d, 1u);
  // 57 quotient bits, one a step; r stays below 2 * d, below 2^64.
  for (int i = 0; i < 57; ++i) {
    q = shl64(q, 1u);
    if (!lt64(r, d)) {
      r = sub64(r, d);
      q = or64(q, b64(1u, 0u));
    }
    r = shl64(r, 1u);
  }
  return round64(neg, ea - eb - 56, or64(q, b64(zero64(r) ? 0u : 1u, 0u)), flags);
}

B64 soft_sqrt64(const in B64 a, const in uint flags) {
  if (is_zero64(a)) return finish64(a, flags);
  if (is_nan64(a) || sign64(a)) return finish64(nan64(), flags);
  if (is_inf64(a)) return finish64(a, flags);
  int e;
  B64 m, root = b64(0u, 0u), rem = b64(0u, 0u);
  unpack64_top(a, e, m);
  if ((e & 1) != 0) {
    m = shr64(m, 1u);
    e += 1;
  }
  // Digit by digit: 64 radicand bits of m, then 48 zeros, make 56 root bits.
  for (int i = 0; i < 56; ++i) {
    rem = or64(shl64(rem, 2u), shr64(m, 62u));
    m = shl64(m, 2u);
    B64 trial = or64(shl64(root, 2u), b64(1u, 0u));
    root = shl64(root, 1u);
    if (!lt64(rem, trial)) {
      rem = sub64(rem, trial);
      root = or64(root, b64(1u, 0u));
    }
  }
  return round64(false, (e - 48) / 2, or64(root, b64(zero64(rem) ? 0u : 1u, 0u)), flags);
}

/// To an integral value, exact.
B64 soft_round64(const in B64 a, const in uint flags) {
  if (is_nan64(a)) return nan64();
  int e;
  B64 m;
  unpack64(a, e, m);
  if (is_inf64(a) || zero64(m) || e >= 0) return a;
  uint drop = uint(min(-e, 65));
  B64 kept = shr64(m, drop);
  uint rest = drop > 64u ? 1u : drop == 64u ? top32_jam(m) : top32_jam(shl64(m, 64u - drop));
  if (rounds_up(sign64(a), lo64(kept), rest, flags)) kept = add64(kept, b64(1u, 0u));
  return round64(sign64(a), 0, kept, RN);
}

B64 key64(const in B64 x) { return sign64(x) ? not64(x) : or64(x, b64(0u, 0x80000000u)); }
B64 soft_minmax64(const in B64 a, const in B64 b, const in bool maximum, const in uint flags) {
  if (is_nan64(a) || is_nan64(b)) {
    if ((flags & NAN_WINS) != 0u || (is_nan64(a) && is_nan64(b))) return nan64();
    return sel64(is_nan64(a), b, a);
  }
  return sel64(lt64(key64(a), key64(b)) != maximum, a, b);
}

#if LW_FLOAT64
/// Normal, and far enough from both ends that no sum or product of two such is subnormal.
bool ordinary64(const in B64 x) {
  uint ex = (hi64(x) >> 20) & 0x7ffu;
  return ex > 0x220u && ex < 0x5dfu;
}
bool takes_native64(const in B64 a, const in B64 b, const in uint flags) {
  return (flags & 7u) == RN && ordinary64(a) && ordinary64(b);
}
#endif

B64 lw_sat_f64(const in B64 a) { return finish64(a, SAT); }
B64 lw_fadd_f64(const in B64 a, const in B64 b, const in uint flags) {
#if LW_FLOAT64
  if (takes_native64(a, b, flags)) {
    precise double s = double_of(a) + double_of(b);
    return finish64(bits_of(s), flags);
  }
#else
  if ((flags & 7u) == RN) return finish64(nearest_add64(a, b), flags);
#endif
  return soft_add64(a, b, flags);
}
B64 lw_fsub_f64(const in B64 a, const in B64 b, const in uint flags) {
  return lw_fadd_f64(a, xor64(b, b64(0u, 0x80000000u)), flags);
}
B64 lw_fmul_f64(const in B64 a, const in B64 b, const in uint flags) {
#if LW_FLOAT64
  if (takes_native64(a, b, flags)) {
    precise double p = double_of(a) * double_of(b);
    return finish64(bits_of(p), flags);
  }
#else
  if ((flags & 7u) == RN) return finish64(nearest_mul64(a, b), flags);
#endif
  return soft_mul64(a, b, flags);
}
B64 lw_ffma_f64(const in B64 a, const in B64 b, const in B64 c, const in uint flags) {
#if !LW_FLOAT64
  if ((flags & 7u) == RN) return finish64(nearest_fma64(a, b, c), flags);
#endif
  return soft_fma64(a, b, c, flags);
}
B64 lw_fdiv_f64(const in B64 a, const in B64 b, const in uint flags) {
  return soft_div64(a, b, flags);
}
B64 lw_frcp_f64(const in B64 a, const in uint flags) {
  return soft_div64(b64(0u, 0x3ff00000u), a, flags);
}
B64 lw_fsqrt_f64(const in B64 a, const in uint flags) { return soft_sqrt64(a, flags); }
B64 lw_fround_f64(const in B64 a, const in uint flags) {
  return finish64(soft_round64(a, flags), flags);
}
B64 lw_fmin_f64(const in B64 a, const in B64 b, const in uint flags) {
  return finish64(soft_minmax64(a, b, false, flags), flags);
}
B64 lw_fmax_f64(const in B64 a, const in B64 b, const in uint flags) {
  return finish64(soft_minmax64(a, b, true, flags), flags);
}
B64 lw_fneg_f64(const in B64 a, const in uint flags) {
  return finish64(xor64(a, b64(0u, 0x80000000u)), flags);
}
B64 lw_fabs_f64(const in B64 a, const in uint flags) {
  return finish64(and64(a, b64(0xffffffffu, 0x7fffffffu)), flags);
}
bool lw_fcmp_f64(const in B64 a, const in B64 b, const in uint cond, const in uint flags) {
  bool equal = either(eq64(a, b), both(is_zero64(a), is_zero64(b)));
  bool less = both(lt64(key64(a), key64(b)), !equal);
  return fcompare(either(is_nan64(a), is_nan64(b)), less, equal, cond);
}

// For devices that were seen to compute fma right that way; any NaN: lw_ffma_rn_f32, and lw_ffma_f64
// to nearest even.
uint lw_ffma_double_f32(const in uint a, const in uint b, const in uint c) {
#if LW_FLOAT64
  return fma_by_double(a, b, c);
#else
  return lw_ffma_rn_f32(a, b, c);
#endif
}
B64 lw_ffma_wide_f64(const in B64 a, const in B64 b, const in B64 c) {
#if LW_FLOAT64
  return bits_of(fma_wide(double_of(a), double_of(b), double_of(c)));
#else
  return soft_fma64(a, b, c, RN);
#endif
}
/// The same, for an addend of 2^-900 to 2^100 (less than that).
B64 lw_ffma_wide_mild_f64(const in B64 a, const in B64 b, const in B64 c) {
#if LW_FLOAT64
  return bits_of(fma_wide_mild(double_of(a), double_of(b), double_of(c)));
#else
  return soft_fma64(a, b, c, RN);
#endif
}
/// The three for devices that run both sides of every branch.
uint lw_ffma_double_straight_f32(const in uint a, const in uint b, const in uint c) {
#if LW_FLOAT64
  return fma_by_double_straight(a, b, c);
#else
  return lw_ffma_rn_f32(a, b, c);
#endif
}
B64 lw_ffma_wide_straight_f64(const in B64 a, const in B64 b, const in B64 c) {
#if LW_FLOAT64
  return bits_of(fma_wide_straight(double_of(a), double_of(b), double_of(c)));
#else
  return soft_fma64(a, b, c, RN);
#endif
}
B64 lw_ffma_wide_mild_straight_f64(const in B64 a, const in B64 b, const in B64 c) {
#if LW_FLOAT64
  return bits_of(fma_mild_straight(double_of(a), double_of(b), double_of(c)));
#else
  return soft_fma64(a, b, c, RN);
#endif
}
