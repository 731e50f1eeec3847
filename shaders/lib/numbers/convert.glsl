// Conversions between floats of different widths and between floats and integers, in integers only.
// In conversions .ftz applies to the f32 side. Out-of-range values clamp; NaN gives 0, or the value
// with only the top bit set when the source is f64 or the result has 64 bits.

uint lw_f2f_f32_f16(const in uint a, const in uint flags) {
  uint wide = widen16(a & 0xffffu);
  return finish(nan32(wide) ? NAN32 : wide, false, flags);
}
uint lw_f2f_f16_f32(const in uint a, const in uint flags) {
  return narrow16(in32(a, flags), flags & ~FTZ);
}
uint lw_f2f_f32_f32(const in uint a, const in uint flags) {
  return finish(nan32(a) ? NAN32 : a, false, flags);
}
uint lw_f2f_f16_f16(const in uint a, const in uint flags) {
  uint x = a & 0xffffu;
  return finish((x & 0x7fffu) > 0x7c00u ? NAN16 : x, true, flags & ~FTZ);
}
B64 lw_f2f_f64_f32(const in uint a, const in uint flags) {
  return finish64(widen32(in32(a, flags)), flags);
}
B64 lw_f2f_f64_f16(const in uint a, const in uint flags) {
  return finish64(widen32(widen16(a & 0xffffu)), flags);
}
B64 lw_f2f_f64_f64(const in B64 a, const in uint flags) {
  return finish64(sel64(is_nan64(a), nan64(), a), flags);
}
uint narrow64(const in B64 a, const in bool half_, const in uint flags) {
  if (is_nan64(a)) return result_nan(half_, flags);
  if (is_inf64(a)) return result_inf(sign64(a), half_, flags);
  int e;
  B64 m;
  unpack64(a, e, m);
  return round_small64(sign64(a), e, m, half_, flags);
}
uint lw_f2f_f32_f64(const in B64 a, const in uint flags) { return narrow64(a, false, flags); }
uint lw_f2f_f16_f64(const in B64 a, const in uint flags) { return narrow64(a, true, flags & ~FTZ); }

// --- integer to float ----------------------------------------------------------------------------
uint lw_i2f_f32_u32(const in uint a, const in uint flags) {
  return round_small(false, 0, a, false, flags);
}
uint lw_i2f_f32_s32(const in uint a, const in uint flags) {
  return round_small(int(a) < 0, 0, lw_abs_s32(a), false, flags);
}
uint lw_i2f_f16_u32(const in uint a, const in uint flags) {
  return round_small(false, 0, a, true, flags & ~FTZ);
}
uint lw_i2f_f16_s32(const in uint a, const in uint flags) {
  return round_small(int(a) < 0, 0, lw_abs_s32(a), true, flags & ~FTZ);
}
uint lw_i2f_f32_u64(const in B64 a, const in uint flags) {
  return round_small64(false, 0, a, false, flags);
}
uint lw_i2f_f32_s64(const in B64 a, const in uint flags) {
  return round_small64(sign64(a), 0, lw_abs_s64(a), false, flags);
}
uint lw_i2f_f16_u64(const in B64 a, const in uint flags) {
  return round_small64(false, 0, a, true, flags & ~FTZ);
}
uint lw_i2f_f16_s64(const in B64 a, const in uint flags) {
  return round_small64(sign64(a), 0, lw_abs_s64(a), true, flags & ~FTZ);
}
B64 lw_i2f_f64_u32(const in uint a, const in uint flags) {
  return round64(false, 0, b64(a, 0u), flags);
}
B64 lw_i2f_f64_s32(const in uint a, const in uint flags) {
  return round64(int(a) < 0, 0, b64(lw_abs_s32(a), 0u), flags);
}
B64 lw_i2f_f64_u64(const in B64 a, const in uint flags) { return round64(false, 0, a, flags); }
B64 lw_i2f_f64_s64(const in B64 a, const in uint flags) {
  return round64(sign64(a), 0, lw_abs_s64(a), flags);
}

// --- float to integer ----------------------------------------------------------------------------
/// |a| as a rounded integer, all ones when it needs more than 32 bits. a is an f32 encoding.
uint small_magnitude(const in uint a, const in uint flags) {
  int e;
  uint m;
  unpack32(a, e, m);
  if (inf32(a) || e > 8) return ~0u;
  if (e >= 0) return m << e;
  uint drop = uint(min(-e, 33));
  uint kept = drop > 31u ? 0u : m >> drop;
  uint rest = drop > 32u ? min(m, 1u) : drop == 32u ? m : m << (32u - drop);
  return rounds_up(neg32(a), kept, rest, flags) ? kept + 1u : kept;
}
/// Clamps +-mag between -below and above.
uint clamp_int(const in bool neg, const in uint mag, const in uint below, const in uint above) {
  return neg ? 0u - min(mag, below) : min(mag, above);
}
uint small_to_int(const in uint a, const in uint below, const in uint above, const in uint flags) {
  if (nan32(a)) return 0u;
  return clamp_int(neg32(a), small_magnitude(a, flags), below, above);
}
/// |a| as a rounded integer, all ones when it needs more than 64 bits. a is an f64 encoding.
B64 wide_magnitude(const in B64 a, const in uint flags) {
  int e;
  B64 m;
  unpack64(a, e, m);
  if (is_inf64(a) || e > 11) return b64(~0u, ~0u);
  if (e >= 0) return shl64(m, uint(e));
  uint drop = uint(min(-e, 65));
  B64 kept = shr64(m, drop);
  if (zero64(m)) return m;
  uint rest = drop > 64u ? 1u : drop == 64u ? top32_jam(m) : top32_jam(shl64(m, 64u - drop));
  return rounds_up(sign64(a), lo64(kept), rest, flags) ? add64(kept, b64(1u, 0u)) : kept;
}
uint wide_to_int(const in B64 a, const in uint below, const in uint above, const in uint invalid,
                 const in uint flags) {
  if (is_nan64(a)) return invalid;
  B64 mag = wide_magnitude(a, flags);
  return clamp_int(sign64(a), hi64(mag) != 0u ? ~0u : lo64(mag), below, above);
}
B64 wide_to_u64(const in B64 a, const in uint flags) {
  if (is_nan64(a)) return b64(0u, 0x80000000u);
  return sel64(sign64(a), b64(0u, 0u), wide_magnitude(a, flags));
}
B64 wide_to_s64(const in B64 a, const in uint flags) {
  if (is_nan64(a)) return b64(0u, 0x80000000u);
  B64 mag = wide_magnitude(a, flags);
  if (sign64(a)) return neg64(sel64(sign64(mag), b64(0u, 0x80000000u), mag));
  return sel64(sign64(mag), b64(~0u, 0x7fffffffu), mag);
}

#define F2I_SMALL(T, BELOW, ABOVE, INVALID, KEEP)                               \
  uint lw_f2i_##T##_f16(const in uint a, const in uint flags) {                 \
    return small_to_int(widen16(a & 0xffffu), BELOW, ABOVE, flags) & KEEP;      \
  }                                                                             \
  uint lw_f2i_##T##_f32(const in uint a, const in uint flags) {                 \
    return small_to_int(in32(a, flags), BELOW, ABOVE, flags) & KEEP;            \
  }                                                                             \
  uint lw_f2i_##T##_f64(const in B64 a, const in uint flags) {                  \
    return wide_to_int(a, BELOW, ABOVE, INVALID, flags) & KEEP;                 \
  }
F2I_SMALL(u8, 0u, 0xffu, 0x80u, 0xffu)
F2I_SMALL(s8, 0x80u, 0x7fu, 0x80u, 0xffu)
F2I_SMALL(u16, 0u, 0xffffu, 0x8000u, 0xffffu)
F2I_SMALL(s16, 0x8000u, 0x7fffu, 0x8000u, 0xffffu)
F2I_SMALL(u32, 0u, 0xffffffffu, 0x80000000u, 0xffffffffu)
F2I_SMALL(s32, 0x80000000u, 0x7fffffffu, 0x80000000u, 0xffffffffu)

#define F2I_WIDE(T)                                                             \
  B64 lw_f2i_##T##_f16(const in uint a, const in uint flags) {                  \
    return wide_to_##T(widen32(widen16(a & 0xffffu)), flags);                   \
  }                                                                             \
  B64 lw_f2i_##T##_f32(const in uint a, const in uint flags) {                  \
    return wide_to_##T(widen32(in32(a, flags)), flags);                         \
  }                                                                             \
  B64 lw_f2i_##T##_f64(const in B64 a, const in uint flags) { return wide_to_##T(a, flags); }
F2I_WIDE(u64)
F2I_WIDE(s64)
