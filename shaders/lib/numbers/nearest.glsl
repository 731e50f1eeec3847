// f32 add, multiply and fused multiply-add, rounded to nearest even, in integers and without a
// branch: short enough to stand in a loop many times on devices whose own operations are not exact.
// Two-word numbers are (hi, lo). The general versions for every rounding are in float32.glsl.

/// Finite x = m * 2^e with bit 31 of m set; zero gives m = 0.
void nearest_unpack(const in uint x, out int e, out uint m) {
  uint ex = (x >> 23) & 0xffu;
  uint small = (x & 0x7fffffu) | (min(ex, 1u) << 23);
  int lz = 31 - findMSB(small | 1u);
  m = small << lz;
  e = int(max(ex, 1u)) - 150 - lz;
}

/// (hi, lo) >> n for n below 64; what falls off stays visible in bit 0.
uvec2 nearest_shr(const in uint hi, const in uint lo, const in uint n) {
  bool far = n > 31u;
  uint s = n & 31u, up = 31u - s;  // shifting left by 1 and then by up is a shift by 32 - s
  uint h = pick(far, 0u, hi), l = pick(far, hi, lo), gone = pick(far, lo, 0u);
  gone |= (l << 1) << up;
  l = (l >> s) | ((h << 1) << up);
  return uvec2(h >> s, l | min(gone, 1u));
}
uvec2 nearest_shl(const in uint hi, const in uint lo, const in uint n) {
  bool far = n > 31u;
  uint s = n & 31u, down = 31u - s;
  uint h = pick(far, lo, hi), l = pick(far, 0u, lo);
  return uvec2((h << s) | ((l >> 1) >> down), l << s);
}

/// +-(hi, lo) * 2^e to f32; sign is bit 31, the magnitude is not zero.
uint nearest_round(const in uint sign, const in int e, const in uint hi, const in uint lo) {
  uint lz = pick(hi != 0u, 31u - uint(findMSB(hi | 1u)), 63u - uint(findMSB(lo | 1u)));
  uvec2 top = nearest_shl(hi, lo, lz);
  int high = min(e - int(lz) + 63, 128);  // exponent of the leading bit; 128 becomes infinity
  uint drop = uint(clamp(-118 - high, 8, 33));
  uvec2 cut = nearest_shr(top.x | min(top.y, 1u), 0u, drop);  // kept bits, lost fraction
  uint kept = cut.x + pick(cut.y > 0x80000000u - (cut.x & 1u), 1u, 0u);
  uint bits = kept + (uint(max(high + 126, 0)) << 23);
  return sign | min(bits, 0x7f800000u);
}

/// P * 2^ep + Q * 2^eq, each with its sign in bit 31 of sp and sq; P and Q below 2^62.
uint nearest_sum(const in uint sp, int ep, const in uvec2 p, const in uint sq, int eq,
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
  return pick((hi | lo) == 0u, sp & sq, nearest_round(sign, max(ep, eq), hi, lo));
}

/// The result, unless an operand is infinite or NaN. Words of 0 and 1 instead of truth values keep
/// the compiler from making branches of them.
uint nearest_special(const in uint finite, const in uint invalid, const in uint infinite,
                     const in uint infinity) {
  return pick(invalid != 0u, NAN32, pick(infinite != 0u, infinity, finite));
}
uint is_inf_word(const in uint x) { return uint((x & 0x7fffffffu) == 0x7f800000u); }
uint is_nan_word(const in uint x) { return uint((x & 0x7fffffffu) > 0x7f800000u); }
uint is_zero_word(const in uint x) { return uint((x << 1) == 0u); }

uint lw_fadd_rn_f32(const in uint a, const in uint b) {
  int ea, eb;
  uint ma, mb;
  nearest_unpack(a, ea, ma);
  nearest_unpack(b, eb, mb);
  uint sa = a & 0x80000000u, sb = b & 0x80000000u;
  uint sum = nearest_sum(sa, ea - 30, uvec2(ma >> 2, ma << 30), sb, eb - 30, uvec2(mb >> 2, mb << 30));
  uint ia = is_inf_word(a), ib = is_inf_word(b);
  uint invalid = is_nan_word(a) | is_nan_word(b) | (ia & ib & ((sa ^ sb) >> 31));
  return nearest_special(sum, invalid, ia | ib, pick(ia != 0u, a, b));
}

uint lw_fmul_rn_f32(const in uint a, const in uint b) {
  int ea, eb;
  uint ma, mb, hi, lo;
  nearest_unpack(a, ea, ma);
  nearest_unpack(b, eb, mb);
  umulExtended(ma, mb, hi, lo);
  uint sign = (a ^ b) & 0x80000000u, zero = is_zero_word(a) | is_zero_word(b);
  uint product = pick(zero != 0u, sign, nearest_round(sign, ea + eb, hi, lo));
  uint infinite = is_inf_word(a) | is_inf_word(b);
  uint invalid = is_nan_word(a) | is_nan_word(b) | (infinite & zero);
  return nearest_special(product, invalid, infinite, sign | 0x7f800000u);
}

uint lw_ffma_rn_f32(const in uint a, const in uint b, const in uint c) {
  int ea, eb, ec;
  uint ma, mb, mc, hi, lo;
  nearest_unpack(a, ea, ma);
  nearest_unpack(b, eb, mb);
  nearest_unpack(c, ec, mc);
  umulExtended(ma, mb, hi, lo);
  uint sp = (a ^ b) & 0x80000000u, sc = c & 0x80000000u;
  // Both magnitudes go below 2^62; the product's lowest 16 bits are zero, so nothing is lost.
  uint sum = nearest_sum(sp, ea + eb + 2, uvec2(hi >> 2, (hi << 30) | (lo >> 2)), sc, ec - 30,
                         uvec2(mc >> 2, mc << 30));
  uint ip = is_inf_word(a) | is_inf_word(b), ic = is_inf_word(c);
  uint invalid = is_nan_word(a) | is_nan_word(b) | is_nan_word(c) |
                 (ip & (is_zero_word(a) | is_zero_word(b))) | (ip & ic & ((sp ^ sc) >> 31));
  return nearest_special(sum, invalid, ip | ic, pick(ip != 0u, sp | 0x7f800000u, c));
}
