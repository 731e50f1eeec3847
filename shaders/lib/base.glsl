// Shared vocabulary: the 64-bit register type B64, helpers on it, and the flag bits of float calls.
//
// With int64 a B64 is a uint64_t; without, it is a uvec2 (x = low word). Everything above this file
// is written once, in terms of the helpers below.

#if LW_INT64
#define B64 uint64_t
#else
#define B64 uvec2
#endif

/// c ? a : b as one select instruction; `?:` and `||` of anything larger than a name become branches.
uint pick(const in bool c, const in uint a, const in uint b) { return mix(b, a, c); }
uvec2 pick(const in bool c, const in uvec2 a, const in uvec2 b) { return mix(b, a, bvec2(c)); }
uvec4 pick(const in bool c, const in uvec4 a, const in uvec4 b) { return mix(b, a, bvec4(c)); }
#if LW_INT64
uint64_t pick(const in bool c, const in uint64_t a, const in uint64_t b) { return mix(b, a, c); }
#endif
/// Both sides always count, as one logical instruction; `||` and `&&` become branches.
bool either(const in bool a, const in bool b) { return mix(b, true, a); }
bool both(const in bool a, const in bool b) { return mix(false, b, a); }

uint clz32(const in uint x) { return uint(31 - findMSB(x)); }

/// Shift right keeping "something was lost" in bit 0, so that later rounding still sees it.
uint shr32_jam(const in uint x, const in uint n) {
  if (n == 0u) return x;
  if (n > 31u) return x != 0u ? 1u : 0u;
  return (x >> n) | ((x << (32u - n)) != 0u ? 1u : 0u);
}

#if LW_INT64
B64 b64(const in uint lo, const in uint hi) { return packUint2x32(uvec2(lo, hi)); }
uint lo64(const in B64 a) { return uint(a); }
uint hi64(const in B64 a) { return unpackUint2x32(a).y; }
B64 add64(const in B64 a, const in B64 b) { return a + b; }
B64 sub64(const in B64 a, const in B64 b) { return a - b; }
B64 and64(const in B64 a, const in B64 b) { return a & b; }
B64 or64(const in B64 a, const in B64 b) { return a | b; }
B64 xor64(const in B64 a, const in B64 b) { return a ^ b; }
B64 not64(const in B64 a) { return ~a; }
B64 shl64(const in B64 a, const in uint n) { return n > 63u ? B64(0) : a << n; }
/// By less than 32.
B64 shl64_some(const in B64 a, const in uint n) { return a << n; }
B64 shr64(const in B64 a, const in uint n) { return n > 63u ? B64(0) : a >> n; }
B64 sar64(const in B64 a, const in uint n) { return B64(int64_t(a) >> min(n, 63u)); }
B64 mul64(const in B64 a, const in B64 b) { return a * b; }
B64 mulwide32(const in uint a, const in uint b) { return B64(a) * B64(b); }
bool eq64(const in B64 a, const in B64 b) { return a == b; }
bool lt64(const in B64 a, const in B64 b) { return a < b; }
bool slt64(const in B64 a, const in B64 b) { return int64_t(a) < int64_t(b); }
bool zero64(const in B64 a) { return a == B64(0); }
#else
B64 b64(const in uint lo, const in uint hi) { return uvec2(lo, hi); }
uint lo64(const in B64 a) { return a.x; }
uint hi64(const in B64 a) { return a.y; }
B64 add64(const in B64 a, const in B64 b) {
  uint lo = a.x + b.x;
  return uvec2(lo, a.y + b.y + (lo < a.x ? 1u : 0u));
}
B64 sub64(const in B64 a, const in B64 b) {
  return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u));
}
B64 and64(const in B64 a, const in B64 b) { return a & b; }
B64 or64(const in B64 a, const in B64 b) { return a | b; }
B64 xor64(const in B64 a, const in B64 b) { return a ^ b; }
B64 not64(const in B64 a) { return ~a; }
B64 shl64(const in B64 a, const in uint n) {
  if (n > 63u) return uvec2(0u);
  uint m = n & 31u;
  uint lo = a.x << m;
  return n > 31u ? uvec2(0u, lo) : uvec2(lo, (a.y << m) | ((a.x >> 1) >> (31u - m)));
}
#define shl64_some shl64
B64 shr64(const in B64 a, const in uint n) {
  if (n > 63u) return uvec2(0u);
  uint m = n & 31u;
  uint hi = a.y >> m;
  return n > 31u ? uvec2(hi, 0u) : uvec2((a.x >> m) | ((a.y << 1) << (31u - m)), hi);
}
B64 sar64(const in B64 a, const in uint n) {
  uint sign = uint(int(a.y) >> 31);
  if (n > 63u) return uvec2(sign);
  uint m = n & 31u;
  uint hi = uint(int(a.y) >> m);
  return n > 31u ? uvec2(hi, sign) : uvec2((a.x >> m) | ((a.y << 1) << (31u - m)), hi);
}
B64 mulwide32(const in uint a, const in uint b) {
  uint hi, lo;
  umulExtended(a, b, hi, lo);
  return uvec2(lo, hi);
}
B64 mul64(const in B64 a, const in B64 b) {
  B64 p = mulwide32(a.x, b.x);
  return uvec2(p.x, p.y + a.x * b.y + a.y * b.x);
}
bool eq64(const in B64 a, const in B64 b) { return a.x == b.x && a.y == b.y; }
bool lt64(const in B64 a, const in B64 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
bool slt64(const in B64 a, const in B64 b) {
  return int(a.y) < int(b.y) || (a.y == b.y && a.x < b.x);
}
bool zero64(const in B64 a) { return (a.x | a.y) == 0u; }
#endif

B64 neg64(const in B64 a) { return sub64(b64(0u, 0u), a); }
bool sign64(const in B64 a) { return (hi64(a) >> 31) != 0u; }
B64 sel64(const in bool c, const in B64 a, const in B64 b) {
  if (c) return a;
  return b;
}
uint clz64(const in B64 a) {
  uint hi = hi64(a);
  return pick(hi != 0u, clz32(hi), 32u + clz32(lo64(a)));
}
B64 shr64_jam(const in B64 a, const in uint n) {
  if (n == 0u) return a;
  if (n > 63u) return b64(zero64(a) ? 0u : 1u, 0u);
  B64 lost = shl64(a, 64u - n);
  return or64(shr64(a, n), b64(zero64(lost) ? 0u : 1u, 0u));
}
/// The top 32 bits, bit 0 set when any lower bit is.
uint top32_jam(const in B64 a) { return hi64(a) | (lo64(a) != 0u ? 1u : 0u); }

/// Full product of two 64-bit numbers: x lowest word.
uvec4 mulwide64(const in B64 a, const in B64 b) {
  B64 ll = mulwide32(lo64(a), lo64(b));
  B64 lh = mulwide32(lo64(a), hi64(b));
  B64 hl = mulwide32(hi64(a), lo64(b));
  B64 hh = mulwide32(hi64(a), hi64(b));
  B64 mid = add64(add64(b64(hi64(ll), 0u), b64(lo64(lh), 0u)), b64(lo64(hl), 0u));
  B64 high = add64(add64(hh, b64(hi64(lh), 0u)), add64(b64(hi64(hl), 0u), b64(hi64(mid), 0u)));
  return uvec4(lo64(ll), lo64(mid), lo64(high), hi64(high));
}
