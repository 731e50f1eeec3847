// f64 add, multiply and fused multiply-add, rounded to nearest even, in 32-bit words and without a
// branch, as nearest.glsl does for f32: for devices that have no f64 and whose compiler takes every
// call as it stands. The general versions for every rounding are in float64.glsl. Numbers of two
// words are (hi, lo), of four (highest .. lowest).

/// Finite x = m * 2^e with bit 63 of m set; zero gives m = 0.
void nearest_unpack64(const in B64 x, out int e, out uvec2 m) {
  uint ex = (hi64(x) >> 20) & 0x7ffu;
  uint hi = (hi64(x) & 0xfffffu) | (min(ex, 1u) << 20), lo = lo64(x);
  uint lz = pick(hi != 0u, 31u - uint(findMSB(hi | 1u)), 63u - uint(findMSB(lo | 1u)));
  m = nearest_shl(hi, lo, lz);
  e = int(max(ex, 1u)) - 1075 - int(lz);
}

/// x >> n for n below 128; what falls off stays visible in bit 0.
uvec4 nearest_shr128(uvec4 x, const in uint n) {
  bool two = (n & 64u) != 0u, one = (n & 32u) != 0u;
  uint gone = pick(two, x.z | x.w, 0u);
  x = pick(two, uvec4(0u, 0u, x.x, x.y), x);
  gone |= pick(one, x.w, 0u);
  x = pick(one, uvec4(0u, x.x, x.y, x.z), x);
  uint s = n & 31u, up = 31u - s;
  gone |= (x.w << 1) << up;
  uvec4 from = uvec4(0u, x.x, x.y, x.z);
  x = uvec4(x.x >> s, (x.y >> s) | ((from.y << 1) << up), (x.z >> s) | ((from.z << 1) << up),
            (x.w >> s) | ((from.w << 1) << up));
  return uvec4(x.x, x.y, x.z, x.w | min(gone, 1u));
}

/// The upper half of x << n for n below 128, its bit 0 set where the lower half is not zero.
uvec2 nearest_top128(uvec4 x, const in uint n) {
  x = pick((n & 64u) != 0u, uvec4(x.z, x.w, 0u, 0u), x);
  x = pick((n & 32u) != 0u, uvec4(x.y, x.z, x.w, 0u), x);
  uint s = n & 31u, down = 31u - s;
  uint hi = (x.x << s) | ((x.y >> 1) >> down), lo = (x.y << s) | ((x.z >> 1) >> down);
  return uvec2(hi, lo | min((x.z << s) | x.w, 1u));
}

/// +-(hi, lo) * 2^e to f64; sign is bit 31, bit 63 of the magnitude is set.
B64 nearest_round64(const in uint sign, const in int e, const in uvec2 m) {
  int high = min(e + 63, 1024);  // exponent of the leading bit; 1024 becomes infinity
  // Two bits more than are kept: the first that is lost, and whether any other is.
  uvec2 cut = nearest_shr(m.x, m.y, uint(clamp(-1013 - high, 9, 63)));
  uint up = (cut.y >> 1) & (cut.y | (cut.y >> 2)) & 1u;
  uint lo = ((cut.x << 30) | (cut.y >> 2)) + up;
  uint hi = (cut.x >> 2) + uint(lo < up) + (uint(max(high + 1022, 0)) << 20);
  bool over = hi >= 0x7ff00000u;
  return b64(pick(over, 0u, lo), sign | pick(over, 0x7ff00000u, hi));
}

/// P * 2^ep + Q * 2^eq, each with its sign in bit 31 of sp and sq; P and Q below 2^126.
B64 nearest_sum64(const in uint sp, int ep, const in uvec4 p, const in uint sq, int eq,
                  const in uvec4 q) {
  ep = int(pick((p.x | p.y) == 0u, uint(eq), uint(ep)));
  eq = int(pick((q.x | q.y) == 0u, uint(ep), uint(eq)));
  bool swap = eq > ep;
  uvec4 a = pick(swap, q, p);
  uvec4 b = nearest_shr128(pick(swap, p, q), uint(min(abs(ep - eq), 127)));
  uint flip = 0u - ((sp ^ sq) >> 31);  // all ones: subtract
  b ^= uvec4(flip);
  uint w = b.w + (flip & 1u), carry = uint(w < (flip & 1u));
  uint s0 = a.w + w;
  carry += uint(s0 < w);
  uint s1 = a.z + b.z, c1 = uint(s1 < b.z), t1 = s1 + carry;
  c1 += uint(t1 < carry);
  uint s2 = a.y + b.y, c2 = uint(s2 < b.y), t2 = s2 + c1;
  c2 += uint(t2 < c1);
  uint t3 = a.x + b.x + c2;
  uint negative = 0u - (t3 >> 31), one = negative & 1u;
  uint n0 = (s0 ^ negative) + one;
  one = uint(both(one != 0u, n0 == 0u));
  uint n1 = (t1 ^ negative) + one;
  one = uint(both(one != 0u, n1 == 0u));
  uint n2 = (t2 ^ negative) + one;
  one = uint(both(one != 0u, n2 == 0u));
  uint n3 = (t3 ^ negative) + one;
  uint sign = pick(swap, sq, sp) ^ (negative & 0x80000000u);
  bool upper = (n3 | n2) != 0u;
  uint first = pick(upper, n3, n1), second = pick(upper, n2, n0);
  uint lz = pick(first != 0u, 31u - uint(findMSB(first | 1u)), 63u - uint(findMSB(second | 1u)));
  lz += pick(upper, 0u, 64u);
  B64 rounded = nearest_round64(sign, max(ep, eq) + 64 - int(lz),
                                nearest_top128(uvec4(n3, n2, n1, n0), lz));
  return pick((first | second) == 0u, b64(0u, sp & sq), rounded);
}

/// The result, unless an operand is infinite or NaN.
B64 nearest_special64(const in B64 finite, const in uint invalid, const in uint infinite,
                      const in uint infinity) {
  B64 x = pick(infinite != 0u, b64(0u, infinity), finite);
  return pick(invalid != 0u, b64(0u, 0xfff80000u), x);
}
/// Words of 0 and 1, as in nearest.glsl.
uint high_of_magnitude(const in B64 x) { return (hi64(x) & 0x7fffffffu) | min(lo64(x), 1u); }
uint is_inf_word64(const in B64 x) {
  return uint(((hi64(x) & 0x7fffffffu) ^ 0x7ff00000u | lo64(x)) == 0u);
}
uint is_nan_word64(const in B64 x) { return uint(high_of_magnitude(x) > 0x7ff00000u); }
uint is_zero_word64(const in B64 x) { return uint(((hi64(x) << 1) | lo64(x)) == 0u); }

/// P * 2^ep + Q * 2^eq as in nearest.glsl, P and Q below 2^62 with nine zeros at the end: rounding
/// sees what falls off.
B64 nearest_add_words64(const in uint sp, int ep, const in uvec2 p, const in uint sq, int eq,
                        const in uvec2 q) {
  ep = int(pick((p.x | p.y) == 0u, uint(eq), uint(ep)));
  eq = int(pick((q.x | q.y) == 0u, uint(ep), uint(eq)));
  bool swap = eq > ep;
  uvec2 a = pick(swap, q, p), b = pick(swap, p, q);
  b = nearest_shr(b.x, b.y, uint(min(abs(ep - eq), 63)));
  uint flip = 0u - ((sp ^ sq) >> 31);  // all ones: subtract
  b ^= uvec2(flip);
  uint lo = a.y + b.y, carry = uint(lo < b.y);
  uint lo2 = lo + (flip & 1u);
  carry += uint(lo2 < lo);
  uint hi = a.x + b.x + carry;
  uint negative = 0u - (hi >> 31);
  lo = (lo2 ^ negative) + (negative & 1u);
  hi = (hi ^ negative) + uint(both(negative != 0u, lo == 0u));
  uint sign = pick(swap, sq, sp) ^ (negative & 0x80000000u);
  uint lz = pick(hi != 0u, 31u - uint(findMSB(hi | 1u)), 63u - uint(findMSB(lo | 1u)));
  B64 rounded = nearest_round64(sign, max(ep, eq) - int(lz), nearest_shl(hi, lo, lz));
  return pick((hi | lo) == 0u, b64(0u, sp & sq), rounded);
}

B64 nearest_add64(const in B64 a, const in B64 b) {
  int ea, eb;
  uvec2 ma, mb;
  nearest_unpack64(a, ea, ma);
  nearest_unpack64(b, eb, mb);
  uint sa = hi64(a) & 0x80000000u, sb = hi64(b) & 0x80000000u;
  B64 sum = nearest_add_words64(sa, ea + 2, uvec2(ma.x >> 2, (ma.x << 30) | (ma.y >> 2)), sb, eb + 2,
                                uvec2(mb.x >> 2, (mb.x << 30) | (mb.y >> 2)));
  uint ia = is_inf_word64(a), ib = is_inf_word64(b);
  uint invalid = is_nan_word64(a) | is_nan_word64(b) | (ia & ib & ((sa ^ sb) >> 31));
  return nearest_special64(sum, invalid, ia | ib, pick(ia != 0u, hi64(a), hi64(b)));
}

/// (hi, lo) * (hi, lo), the highest word first.
uvec4 nearest_product(const in uvec2 a, const in uvec2 b) {
  uint h0, l0, h1, l1, h2, l2, h3, l3;
  umulExtended(a.y, b.y, h0, l0);
  umulExtended(a.x, b.y, h1, l1);
  umulExtended(a.y, b.x, h2, l2);
  umulExtended(a.x, b.x, h3, l3);
  uint x = h0 + l1, c = uint(x < l1);
  uint w1 = x + l2;
  c += uint(w1 < l2);
  uint y = h1 + c, d = uint(y < c);
  uint z = y + h2;
  d += uint(z < h2);
  uint w2 = z + l3;
  d += uint(w2 < l3);
  return uvec4(h3 + d, w2, w1, l0);
}

B64 nearest_mul64(const in B64 a, const in B64 b) {
  int ea, eb;
  uvec2 ma, mb;
  nearest_unpack64(a, ea, ma);
  nearest_unpack64(b, eb, mb);
  uvec4 p = nearest_product(ma, mb);
  uint sign = (hi64(a) ^ hi64(b)) & 0x80000000u, zero = is_zero_word64(a) | is_zero_word64(b);
  uint lz = 1u - (p.x >> 31);
  B64 product = nearest_round64(sign, ea + eb + 64 - int(lz), nearest_top128(p, lz));
  product = pick(zero != 0u, b64(0u, sign), product);
  uint infinite = is_inf_word64(a) | is_inf_word64(b);
  uint invalid = is_nan_word64(a) | is_nan_word64(b) | (infinite & zero);
  return nearest_special64(product, invalid, infinite, sign | 0x7ff00000u);
}

B64 nearest_fma64(const in B64 a, const in B64 b, const in B64 c) {
  int ea, eb, ec;
  uvec2 ma, mb, mc;
  nearest_unpack64(a, ea, ma);
  nearest_unpack64(b, eb, mb);
  nearest_unpack64(c, ec, mc);
  uvec4 p = nearest_product(ma, mb);
  uint sp = (hi64(a) ^ hi64(b)) & 0x80000000u, sc = hi64(c) & 0x80000000u;
  // Both magnitudes go below 2^126; the product's lowest 22 bits are zero, so nothing is lost.
  p = uvec4(p.x >> 2, (p.x << 30) | (p.y >> 2), (p.y << 30) | (p.z >> 2), (p.z << 30) | (p.w >> 2));
  B64 sum = nearest_sum64(sp, ea + eb + 2, p, sc, ec - 62,
                          uvec4(mc.x >> 2, (mc.x << 30) | (mc.y >> 2), mc.y << 30, 0u));
  uint ip = is_inf_word64(a) | is_inf_word64(b), ic = is_inf_word64(c);
  uint invalid = is_nan_word64(a) | is_nan_word64(b) | is_nan_word64(c) |
                 (ip & (is_zero_word64(a) | is_zero_word64(b))) | (ip & ic & ((sp ^ sc) >> 31));
  return nearest_special64(sum, invalid, ip | ic, pick(ip != 0u, sp | 0x7ff00000u, hi64(c)));
}
