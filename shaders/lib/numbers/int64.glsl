// 64-bit integer operations, one per IR operation and type. Trivial with int64, complete without.

B64 lw_add_u64(const in B64 a, const in B64 b) { return add64(a, b); }
B64 lw_sub_u64(const in B64 a, const in B64 b) { return sub64(a, b); }
B64 lw_mul_u64(const in B64 a, const in B64 b) { return mul64(a, b); }
B64 lw_neg_u64(const in B64 a) { return neg64(a); }
B64 lw_and_u64(const in B64 a, const in B64 b) { return and64(a, b); }
B64 lw_or_u64(const in B64 a, const in B64 b) { return or64(a, b); }
B64 lw_xor_u64(const in B64 a, const in B64 b) { return xor64(a, b); }
B64 lw_not_u64(const in B64 a) { return not64(a); }
B64 lw_zext64(const in uint a) { return b64(a, 0u); }
B64 lw_sext64(const in uint a) { return b64(a, uint(int(a) >> 31)); }
B64 lw_shl_u64(const in B64 a, const in uint n) { return shl64(a, n); }
B64 lw_shr_u64(const in B64 a, const in uint n) { return shr64(a, n); }
B64 lw_shr_s64(const in B64 a, const in uint n) { return sar64(a, n); }
B64 lw_abs_s64(const in B64 a) { return sel64(sign64(a), neg64(a), a); }
B64 lw_abs_u64(const in B64 a) { return a; }
B64 lw_min_u64(const in B64 a, const in B64 b) { return sel64(lt64(b, a), b, a); }
B64 lw_max_u64(const in B64 a, const in B64 b) { return sel64(lt64(a, b), b, a); }
B64 lw_min_s64(const in B64 a, const in B64 b) { return sel64(slt64(b, a), b, a); }
B64 lw_max_s64(const in B64 a, const in B64 b) { return sel64(slt64(a, b), b, a); }

B64 lw_mulwide_u32(const in uint a, const in uint b) { return mulwide32(a, b); }
B64 lw_mulwide_s32(const in uint a, const in uint b) {
  B64 p = mulwide32(a, b);
  uint fix = (int(a) < 0 ? b : 0u) + (int(b) < 0 ? a : 0u);
  return b64(lo64(p), hi64(p) - fix);
}
B64 lw_mulhi_u64(const in B64 a, const in B64 b) {
  uvec4 p = mulwide64(a, b);
  return b64(p.z, p.w);
}
B64 lw_mulhi_s64(const in B64 a, const in B64 b) {
  uvec4 p = mulwide64(a, b);
  B64 high = b64(p.z, p.w);
  if (sign64(a)) high = sub64(high, b);
  if (sign64(b)) high = sub64(high, a);
  return high;
}

#if LW_INT64
B64 udiv64(const in B64 a, const in B64 b, out B64 rem) {
  if (b == B64(0)) {
    rem = ~B64(0);
    return rem;
  }
  B64 q = a / b;
  rem = a - q * b;
  return q;
}
#else
// Shift and subtract, from the dividend's highest bit down.
B64 udiv64(B64 a, const in B64 b, out B64 rem) {
  B64 q = uvec2(0u), r = uvec2(0u);
  if (zero64(b)) {
    rem = uvec2(0xffffffffu);
    return rem;
  }
  if ((a.y | b.y) == 0u) {
    rem = uvec2(a.x % b.x, 0u);
    return uvec2(a.x / b.x, 0u);
  }
  uint skip = clz64(a);
  a = shl64(a, skip);
  for (uint i = skip; i < 64u; ++i) {
    uint carry = r.y >> 31;
    r = uvec2((r.x << 1) | (a.y >> 31), (r.y << 1) | (r.x >> 31));
    a = uvec2(a.x << 1, (a.y << 1) | (a.x >> 31));
    q = uvec2(q.x << 1, (q.y << 1) | (q.x >> 31));
    if (carry != 0u || !lt64(r, b)) {
      r = sub64(r, b);
      q.x |= 1u;
    }
  }
  rem = r;
  return q;
}
#endif
B64 lw_div_u64(const in B64 a, const in B64 b) {
  B64 r;
  return udiv64(a, b, r);
}
B64 lw_rem_u64(const in B64 a, const in B64 b) {
  B64 r;
  B64 q = udiv64(a, b, r);
  return r;
}
// Signed division by zero gives all ones twice, whatever the dividend's sign, so it is tested first.
B64 lw_div_s64(const in B64 a, const in B64 b) {
  if (zero64(b)) return b64(0xffffffffu, 0xffffffffu);
  B64 r;
  B64 q = udiv64(lw_abs_s64(a), lw_abs_s64(b), r);
  return sel64(sign64(a) != sign64(b), neg64(q), q);
}
B64 lw_rem_s64(const in B64 a, const in B64 b) {
  if (zero64(b)) return b64(0xffffffffu, 0xffffffffu);
  B64 r;
  B64 q = udiv64(lw_abs_s64(a), lw_abs_s64(b), r);
  return sel64(sign64(a), neg64(r), r);
}

uint lw_popc_u64(const in B64 a) { return uint(bitCount(lo64(a)) + bitCount(hi64(a))); }
uint lw_clz_u64(const in B64 a) { return clz64(a); }
B64 lw_brev_u64(const in B64 a) { return b64(bitfieldReverse(hi64(a)), bitfieldReverse(lo64(a))); }
uint lw_bfind_u64(const in B64 a) { return 63u - clz64(a); }
uint lw_bfind_s64(const in B64 a) { return 63u - clz64(sel64(sign64(a), not64(a), a)); }

B64 mask64(const in uint len) {
  return len > 63u ? b64(~0u, ~0u) : sub64(shl64(b64(1u, 0u), len), b64(1u, 0u));
}
B64 lw_bfe_u64(const in B64 a, const in uint pos, const in uint len) {
  return and64(shr64(a, pos & 0xffu), mask64(len & 0xffu));
}
/// Bits above the field, and field bits beyond bit 63, are copies of the field's top bit.
B64 lw_bfe_s64(const in B64 a, const in uint pos, const in uint len) {
  uint p = pos & 0xffu, n = len & 0xffu;
  if (n == 0u) return b64(0u, 0u);
  B64 field = sar64(a, p);
  if (p + n >= 64u) return field;
  return sar64(shl64(field, 64u - n), 64u - n);
}
B64 lw_bfi_u64(const in B64 a, const in B64 b, const in uint pos, const in uint len) {
  B64 mask = shl64(mask64(len & 0xffu), pos & 0xffu);
  return or64(and64(shl64(a, pos & 0xffu), mask), and64(b, not64(mask)));
}

/// Sum low, sum high, carry out.
uvec3 lw_addc_u64(const in B64 a, const in B64 b, const in bool carry) {
  B64 s = add64(a, b);
  bool c = lt64(s, a);
  B64 t = add64(s, b64(carry ? 1u : 0u, 0u));
  c = c || lt64(t, s);
  return uvec3(lo64(t), hi64(t), c ? 1u : 0u);
}
uvec3 lw_subb_u64(const in B64 a, const in B64 b, const in bool borrow) {
  B64 d = sub64(a, b);
  bool c = lt64(a, b) || (borrow && zero64(d));
  B64 t = sub64(d, b64(borrow ? 1u : 0u, 0u));
  return uvec3(lo64(t), hi64(t), c ? 1u : 0u);
}

bool compare_result(const in bool less, const in bool equal, const in uint cond) {
  // eq, ne, lt, le, gt, ge; without branches, see fcompare().
  bool plain = mix(either(less, equal), less, either(cond == 2u, cond == 5u));
  return mix(plain, equal, cond < 2u) != either(cond == 1u, cond > 3u);
}
bool lw_icmp_u64(const in B64 a, const in B64 b, const in uint cond) {
  return compare_result(lt64(a, b), eq64(a, b), cond);
}
bool lw_icmp_s64(const in B64 a, const in B64 b, const in uint cond) {
  return compare_result(slt64(a, b), eq64(a, b), cond);
}
