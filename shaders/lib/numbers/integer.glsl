// 32-bit integer operations that SPIR-V has not, or leaves undefined at the edges.

uint lw_shl_u32(const in uint a, const in uint n) { return n > 31u ? 0u : a << n; }
uint lw_shr_u32(const in uint a, const in uint n) { return n > 31u ? 0u : a >> n; }
uint lw_shr_s32(const in uint a, const in uint n) { return uint(int(a) >> min(n, 31u)); }
uint lw_abs_s32(const in uint a) { return int(a) < 0 ? 0u - a : a; }

uint lw_mulhi_u32(const in uint a, const in uint b) {
  uint hi, lo;
  umulExtended(a, b, hi, lo);
  return hi;
}
uint lw_mulhi_s32(const in uint a, const in uint b) {
  int hi, lo;
  imulExtended(int(a), int(b), hi, lo);
  return uint(hi);
}

uint lw_div_u32(const in uint a, const in uint b) { return b == 0u ? ~0u : a / max(b, 1u); }
uint lw_rem_u32(const in uint a, const in uint b) { return b == 0u ? ~0u : a % max(b, 1u); }
// On magnitudes: INT_MIN / -1 is then no special case.
uint lw_div_s32(const in uint a, const in uint b) {
  if (b == 0u) return ~0u;
  uint q = lw_abs_s32(a) / lw_abs_s32(b);
  return int(a ^ b) < 0 ? 0u - q : q;
}
uint lw_rem_s32(const in uint a, const in uint b) {
  if (b == 0u) return ~0u;
  uint r = lw_abs_s32(a) % lw_abs_s32(b);
  return int(a) < 0 ? 0u - r : r;
}

/// Sum, carry out.
uvec2 lw_addc_u32(const in uint a, const in uint b, const in bool carry) {
  uint s = a + b, t = s + (carry ? 1u : 0u);
  return uvec2(t, s < a || t < s ? 1u : 0u);
}
/// Difference, borrow out.
uvec2 lw_subb_u32(const in uint a, const in uint b, const in bool borrow) {
  uint d = a - b;
  return uvec2(d - (borrow ? 1u : 0u), a < b || (borrow && d == 0u) ? 1u : 0u);
}

uint lw_popc_u32(const in uint a) { return uint(bitCount(a)); }
uint lw_clz_u32(const in uint a) { return clz32(a); }
uint lw_brev_u32(const in uint a) { return bitfieldReverse(a); }
uint lw_bfind_u32(const in uint a) { return uint(findMSB(a)); }
uint lw_bfind_s32(const in uint a) { return uint(findMSB(int(a) < 0 ? ~a : a)); }

uint mask32(const in uint len) { return len > 31u ? ~0u : (1u << len) - 1u; }
uint lw_bfe_u32(const in uint a, const in uint pos, const in uint len) {
  return lw_shr_u32(a, pos & 0xffu) & mask32(len & 0xffu);
}
uint lw_bfe_s32(const in uint a, const in uint pos, const in uint len) {
  uint p = pos & 0xffu, n = len & 0xffu;
  if (n == 0u) return 0u;
  uint field = lw_shr_s32(a, p);
  if (p + n >= 32u) return field;
  return uint(int(field << (32u - n)) >> (32u - n));
}
uint lw_bfi_u32(const in uint a, const in uint b, const in uint pos, const in uint len) {
  uint mask = lw_shl_u32(mask32(len & 0xffu), pos & 0xffu);
  return (lw_shl_u32(a, pos & 0xffu) & mask) | (b & ~mask);
}

/// High word of (hi:lo) << n. Mode 0 clamps n to 32, mode 1 takes it modulo 32.
uint lw_shf_l(const in uint lo, const in uint hi, const in uint n, const in uint mode) {
  uint m = mode == 0u ? min(n, 32u) : n & 31u;
  return m > 31u ? lo : (hi << m) | ((lo >> 1) >> (31u - m));
}
/// Low word of (hi:lo) >> n.
uint lw_shf_r(const in uint lo, const in uint hi, const in uint n, const in uint mode) {
  uint m = mode == 0u ? min(n, 32u) : n & 31u;
  return m > 31u ? hi : (lo >> m) | ((hi << 1) << (31u - m));
}

/// Byte `i` (0-7) of the pair b:a.
uint pair_byte(const in uint a, const in uint b, const in uint i) {
  return ((i & 4u) == 0u ? a : b) >> ((i & 3u) * 8u) & 0xffu;
}

/// The selector nibbles that the special modes stand for.
uint prmt_selector(const in uint sel, const in uint mode) {
  uint s = sel & 3u;
  switch (mode) {
    case 1u: return 0x3210u + 0x1111u * s;                              // f4e
    case 2u: return (0x5670u + 0x1111u * s) & 0x7777u;                  // b4e
    case 3u: return 0x1111u * s;                                        // rc8
    case 4u: return max(s, 3u) << 12 | max(s, 2u) << 8 | max(s, 1u) << 4 | s;         // ecl
    case 5u: return s << 12 | min(s, 2u) << 8 | min(s, 1u) << 4;        // ecr
    case 6u: return (s & 1u) != 0u ? 0x3232u : 0x1010u;                 // rc16
    default: return sel;
  }
}
uint lw_prmt(const in uint a, const in uint b, const in uint sel, const in uint mode) {
  uint picks = prmt_selector(sel, mode), r = 0u;
  for (uint i = 0u; i < 4u; ++i) {
    uint nibble = picks >> (4u * i) & 0xfu;
    uint byte_ = pair_byte(a, b, nibble & 7u);
    if ((nibble & 8u) != 0u) byte_ = (byte_ & 0x80u) != 0u ? 0xffu : 0u;
    r |= byte_ << (8u * i);
  }
  return r;
}

uint lw_lop3(const in uint a, const in uint b, const in uint c, const in uint lut) {
  uint r = 0u;
  for (uint i = 0u; i < 8u; ++i)
    if ((lut >> i & 1u) != 0u)
      r |= ((i & 4u) != 0u ? a : ~a) & ((i & 2u) != 0u ? b : ~b) & ((i & 1u) != 0u ? c : ~c);
  return r;
}

bool lw_icmp_u32(const in uint a, const in uint b, const in uint cond) {
  return compare_result(a < b, a == b, cond);
}
bool lw_icmp_s32(const in uint a, const in uint b, const in uint cond) {
  return compare_result(int(a) < int(b), a == b, cond);
}
