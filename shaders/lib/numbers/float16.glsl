// f16 arithmetic: operands are widened to f32 encodings, the exact result is rounded once to f16.

uint arg16(const in uint a, const in uint flags) { return widen16(in16(a & 0xffffu, flags)); }

uint lw_ftz_f16(const in uint a) { return flush16(a); }
uint lw_sat_f16(const in uint a) { return finish(a, true, SAT); }
uint lw_fadd_f16(const in uint a, const in uint b, const in uint flags) {
  return small_add(arg16(a, flags), arg16(b, flags), true, flags);
}
uint lw_fsub_f16(const in uint a, const in uint b, const in uint flags) {
  return small_add(arg16(a, flags), arg16(b, flags) ^ 0x80000000u, true, flags);
}
uint lw_fmul_f16(const in uint a, const in uint b, const in uint flags) {
  return small_mul(arg16(a, flags), arg16(b, flags), true, flags);
}
uint lw_ffma_f16(const in uint a, const in uint b, const in uint c, const in uint flags) {
  return small_fma(arg16(a, flags), arg16(b, flags), arg16(c, flags), true, flags);
}
uint lw_fdiv_f16(const in uint a, const in uint b, const in uint flags) {
  return small_div(arg16(a, flags), arg16(b, flags), true, flags);
}
uint lw_frcp_f16(const in uint a, const in uint flags) {
  return small_div(0x3f800000u, arg16(a, flags), true, flags);
}
uint lw_fsqrt_f16(const in uint a, const in uint flags) {
  return small_sqrt(arg16(a, flags), true, flags);
}

/// Rounds any f32 encoding to f16.
uint narrow16(const in uint a, const in uint flags) {
  if (nan32(a)) return result_nan(true, flags);
  if (inf32(a)) return result_inf(neg32(a), true, flags);
  int e;
  uint m;
  unpack32(a, e, m);
  return round_small(neg32(a), e, m, true, flags);
}
uint lw_fround_f16(const in uint a, const in uint flags) {
  return narrow16(small_round(arg16(a, flags), flags), flags & (FTZ | SAT));
}
uint lw_fmin_f16(const in uint a, const in uint b, const in uint flags) {
  return narrow16(small_minmax(arg16(a, flags), arg16(b, flags), false, flags), flags & (FTZ | SAT));
}
uint lw_fmax_f16(const in uint a, const in uint b, const in uint flags) {
  return narrow16(small_minmax(arg16(a, flags), arg16(b, flags), true, flags), flags & (FTZ | SAT));
}
uint lw_fneg_f16(const in uint a, const in uint flags) {
  return finish((a & 0xffffu) ^ 0x8000u, true, flags);
}
uint lw_fabs_f16(const in uint a, const in uint flags) { return finish(a & 0x7fffu, true, flags); }
bool lw_fcmp_f16(const in uint a, const in uint b, const in uint cond, const in uint flags) {
  return small_compare(arg16(a, flags), arg16(b, flags), cond);
}
