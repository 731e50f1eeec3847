// Taking floats apart and rounding exact results back. f16 arithmetic is done on f32 encodings
// (every f16 is an f32), so the "small" functions serve both and differ only in the last rounding.

const uint NAN16 = 0x7fffu, NAN32 = 0x7fffffffu;

/// Should the kept magnitude grow by one? `rest` is the lost part as a fraction of 2^32.
bool rounds_up(const in bool neg, const in uint kept, const in uint rest, const in uint flags) {
  switch (flags & 7u) {
    case RN: return rest > 0x80000000u || (rest == 0x80000000u && (kept & 1u) != 0u);
    case RM: return neg && rest != 0u;
    case RP: return !neg && rest != 0u;
    case RNA: return rest >= 0x80000000u;
    default: return false;
  }
}
bool overflows_to_inf(const in bool neg, const in uint flags) {
  uint round = flags & 7u;
  return round == RN || round == RNA || round == (neg ? RM : RP);
}

bool nan32(const in uint x) { return (x & 0x7fffffffu) > 0x7f800000u; }
bool inf32(const in uint x) { return (x & 0x7fffffffu) == 0x7f800000u; }
bool zero32(const in uint x) { return (x << 1) == 0u; }
bool neg32(const in uint x) { return (x >> 31) != 0u; }
uint flush32(const in uint x) { return (x & 0x7f800000u) == 0u ? x & 0x80000000u : x; }
uint flush16(const in uint x) { return (x & 0x7c00u) == 0u ? x & 0x8000u : x; }
uint in32(const in uint x, const in uint flags) { return (flags & FTZ) != 0u ? flush32(x) : x; }
uint in16(const in uint x, const in uint flags) { return (flags & FTZ) != 0u ? flush16(x) : x; }

/// The f32 with the value of an f16; NaN stays NaN.
uint widen16(const in uint h) {
  uint sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return sign | 0x7f800000u | (rest << 13);
  if (rest >= 0x400u) return sign | ((rest << 13) + (112u << 23));
  if (rest == 0u) return sign;
  uint top = uint(findMSB(rest));
  return sign | ((top + 103u) << 23) | ((rest << (23u - top)) & 0x7fffffu);
}

/// Finite x = m * 2^e, m below 2^24.
void unpack32(const in uint x, out int e, out uint m) {
  uint ex = (x >> 23) & 0xffu;
  m = (x & 0x7fffffu) | (ex != 0u ? 0x800000u : 0u);
  e = int(max(ex, 1u)) - 150;
}
/// The same for x not zero, with bit 31 of m set.
void unpack32_top(const in uint x, out int e, out uint m) {
  unpack32(x, e, m);
  uint lz = clz32(m);
  m <<= lz;
  e -= int(lz);
}

/// Last steps of every operation on f16 (half_) and f32: flush, then saturate.
uint finish(uint x, const in bool half_, const in uint flags) {
  if ((flags & FTZ) != 0u) x = half_ ? flush16(x) : flush32(x);
  if ((flags & SAT) != 0u) {
    uint one = half_ ? 0x3c00u : 0x3f800000u, inf = half_ ? 0x7c00u : 0x7f800000u;
    x = x > inf ? 0u : min(x, one);  // negative numbers and NaN are above infinity as integers
  }
  return x;
}
uint result_nan(const in bool half_, const in uint flags) {
  return finish(half_ ? NAN16 : NAN32, half_, flags);
}
uint result_inf(const in bool neg, const in bool half_, const in uint flags) {
  return finish(half_ ? (neg ? 0xfc00u : 0x7c00u) : (neg ? 0xff800000u : 0x7f800000u), half_, flags);
}
uint result_zero(const in bool neg, const in bool half_) {
  return neg ? (half_ ? 0x8000u : 0x80000000u) : 0u;
}

/// Rounds +-m * 2^e to f16 or f32. Bit 0 of m may be sticky when bit 25 or a higher one is set. With FTZ a number that
/// would round below the normal ones if exponents had no end is a zero.
uint round_small(const in bool neg, const in int e, uint m, const in bool half_,
                 const in uint flags) {
  if (m == 0u) return finish(result_zero(neg, half_), half_, flags);
  uint lz = clz32(m);
  m <<= lz;
  int top = e - int(lz) + 31;  // exponent of the leading bit
  uint frac = half_ ? 10u : 23u;
  int emin = half_ ? -14 : -126;
  uint inf = half_ ? 0x7c00u : 0x7f800000u;
  uint bits;
  if (top > 1 - emin) {
    bits = overflows_to_inf(neg, flags) ? inf : inf - 1u;
  } else {
    uint drop = min(31u - frac + uint(max(emin - top, 0)), 33u);
    uint kept = drop > 31u ? 0u : m >> drop;
    uint rest = drop > 32u ? 1u : drop == 32u ? m : m << (32u - drop);
    if (rounds_up(neg, kept, rest, flags)) kept += 1u;
    bits = kept + (uint(max(top - emin, 0)) << frac);
    if ((flags & FTZ) != 0u && top == emin - 1) {
      kept = m >> (31u - frac);
      if (!rounds_up(neg, kept, m << (frac + 1u), flags) || kept + 1u < (2u << frac)) bits = 0u;
    }
    if (bits >= inf && !overflows_to_inf(neg, flags)) bits = inf - 1u;
  }
  return finish(bits | result_zero(neg, half_), half_, flags);
}
/// The same for 64-bit magnitudes; bit 0 sticky as above.
uint round_small64(const in bool neg, const in int e, const in B64 m, const in bool half_,
                   const in uint flags) {
  if (zero64(m)) return round_small(neg, 0, 0u, half_, flags);
  uint lz = clz64(m);
  return round_small(neg, e - int(lz) + 32, top32_jam(shl64(m, lz)), half_, flags);
}

// --- f64 ---------------------------------------------------------------------------------------
B64 nan64() { return b64(0u, 0xfff80000u); }
B64 inf64(const in bool neg) { return b64(0u, neg ? 0xfff00000u : 0x7ff00000u); }
B64 signed_zero64(const in bool neg) { return b64(0u, neg ? 0x80000000u : 0u); }
bool is_nan64(const in B64 x) {
  return (hi64(x) & 0x7fffffffu) + (lo64(x) != 0u ? 1u : 0u) > 0x7ff00000u;
}
bool is_inf64(const in B64 x) { return (hi64(x) & 0x7fffffffu) == 0x7ff00000u && lo64(x) == 0u; }
bool is_zero64(const in B64 x) { return ((hi64(x) << 1) | lo64(x)) == 0u; }

/// Finite x = m * 2^e, m below 2^53.
void unpack64(const in B64 x, out int e, out B64 m) {
  uint ex = (hi64(x) >> 20) & 0x7ffu;
  m = b64(lo64(x), (hi64(x) & 0xfffffu) | (ex != 0u ? 0x100000u : 0u));
  e = int(max(ex, 1u)) - 1075;
}
/// The same for x not zero, with bit 63 of m set.
void unpack64_top(const in B64 x, out int e, out B64 m) {
  unpack64(x, e, m);
  uint lz = clz64(m);
  m = shl64(m, lz);
  e -= int(lz);
}
/// Clamps to [0, 1] when asked; NaN and negative values become +0. f64 is never flushed.
B64 finish64(const in B64 x, const in uint flags) {
  if ((flags & SAT) == 0u) return x;
  if (is_nan64(x) || sign64(x)) return b64(0u, 0u);
  return hi64(x) >= 0x3ff00000u ? b64(0u, 0x3ff00000u) : x;
}
/// Rounds +-m * 2^e to f64. Bit 0 of m may be sticky when bit 54 or a higher one is set.
B64 round64(const in bool neg, const in int e, B64 m, const in uint flags) {
  if (zero64(m)) return finish64(signed_zero64(neg), flags);
  uint lz = clz64(m);
  m = shl64(m, lz);
  int top = e - int(lz) + 63;
  B64 bits;
  if (top > 1023) {
    bits = inf64(false);
    if (!overflows_to_inf(neg, flags)) bits = sub64(bits, b64(1u, 0u));
  } else {
    uint drop = min(11u + uint(max(-1022 - top, 0)), 65u);
    B64 kept = shr64(m, drop);
    uint rest = drop > 64u ? 1u : drop == 64u ? top32_jam(m) : top32_jam(shl64(m, 64u - drop));
    if (rounds_up(neg, lo64(kept), rest, flags)) kept = add64(kept, b64(1u, 0u));
    bits = add64(kept, b64(0u, uint(max(top + 1022, 0)) << 20));
    if (hi64(bits) >= 0x7ff00000u && !overflows_to_inf(neg, flags))
      bits = b64(0xffffffffu, 0x7fefffffu);
  }
  return finish64(or64(bits, signed_zero64(neg)), flags);
}

/// The f64 with the value of an f32; NaN becomes the canonical NaN.
B64 widen32(const in uint x) {
  if (nan32(x)) return nan64();
  if (inf32(x)) return inf64(neg32(x));
  int e;
  uint m;
  unpack32(x, e, m);
  return round64(neg32(x), e, b64(m, 0u), RN);
}

// --- adding magnitudes ---------------------------------------------------------------------------
/// Sign of an exact zero sum of two non-zero numbers, or of two zeros of different signs.
bool zero_sum_sign(const in uint flags) { return (flags & 7u) == RM; }
