// Read-modify-write operations. What the device does natively it does; everything else is a
// compare-and-swap loop (32 bits, and 64 bits with int64 atomics) or runs under the lock.

// --- new values ----------------------------------------------------------------------------------
// Float sums round to nearest even; bits 3 and 5 of the access flags are FTZ and
// NAN_WINS, as in float flags.
uint next_add_u32(const in uint o, const in uint v, const in uint f) { return o + v; }
uint next_sub_u32(const in uint o, const in uint v, const in uint f) { return o - v; }
uint next_rsub_u32(const in uint o, const in uint v, const in uint f) { return v - o; }
uint next_inc_u32(const in uint o, const in uint v, const in uint f) {
  return o >= v ? 0u : o + 1u;
}
uint next_dec_u32(const in uint o, const in uint v, const in uint f) {
  return o == 0u || o > v ? v : o - 1u;
}
uint next_min_s32(const in uint o, const in uint v, const in uint f) {
  return uint(min(int(o), int(v)));
}
uint next_max_s32(const in uint o, const in uint v, const in uint f) {
  return uint(max(int(o), int(v)));
}
uint next_add_f32(const in uint o, const in uint v, const in uint f) {
  return lw_fadd_f32(o, v, f & FTZ);
}
uint next_min_f32(const in uint o, const in uint v, const in uint f) {
  return lw_fmin_f32(o, v, f & (FTZ | NAN_WINS));
}
uint next_max_f32(const in uint o, const in uint v, const in uint f) {
  return lw_fmax_f32(o, v, f & (FTZ | NAN_WINS));
}
uint next_add_f16(const in uint o, const in uint v, const in uint f) {
  return lw_fadd_f16(o, v, f & FTZ);
}
uint next_min_f16(const in uint o, const in uint v, const in uint f) {
  return lw_fmin_f16(o, v, f & (FTZ | NAN_WINS));
}
uint next_max_f16(const in uint o, const in uint v, const in uint f) {
  return lw_fmax_f16(o, v, f & (FTZ | NAN_WINS));
}
uint next_exch_u16(const in uint o, const in uint v, const in uint f) { return v & 0xffffu; }
// bf16 is the upper half of f32.
uint round_bf16(const in uint x) {
  return pick((x & 0x7fffffffu) > 0x7f800000u, 0x7fffu, (x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}
uint next_add_bf16(const in uint o, const in uint v, const in uint f) {
  return round_bf16(lw_fadd_f32(o << 16, v << 16, 0u));
}
uint next_min_bf16(const in uint o, const in uint v, const in uint f) {
  return round_bf16(lw_fmin_f32(o << 16, v << 16, 0u));
}
uint next_max_bf16(const in uint o, const in uint v, const in uint f) {
  return round_bf16(lw_fmax_f32(o << 16, v << 16, 0u));
}
#define NEXT_PAIR(OP)                                                               \
  uint next_##OP##_f16x2(uint o, uint v, uint f) {                                  \
    return next_##OP##_f16(o & 0xffffu, v & 0xffffu, f) |                           \
           next_##OP##_f16(o >> 16, v >> 16, f) << 16;                              \
  }
#define NEXT_BRIEF_PAIR(OP)                                                         \
  uint next_##OP##_bf16x2(uint o, uint v, uint f) {                                 \
    return next_##OP##_bf16(o & 0xffffu, v & 0xffffu, f) |                          \
           next_##OP##_bf16(o >> 16, v >> 16, f) << 16;                             \
  }
NEXT_PAIR(add)
NEXT_PAIR(min)
NEXT_PAIR(max)
NEXT_BRIEF_PAIR(add)
NEXT_BRIEF_PAIR(min)
NEXT_BRIEF_PAIR(max)
B64 next_add_u64(const in B64 o, const in B64 v, const in uint f) { return add64(o, v); }
B64 next_sub_u64(const in B64 o, const in B64 v, const in uint f) { return sub64(o, v); }
B64 next_rsub_u64(const in B64 o, const in B64 v, const in uint f) { return sub64(v, o); }
B64 next_inc_u64(const in B64 o, const in B64 v, const in uint f) {
  return sel64(lt64(o, v), add64(o, b64(1u, 0u)), b64(0u, 0u));
}
B64 next_dec_u64(const in B64 o, const in B64 v, const in uint f) {
  return sel64(zero64(o) || lt64(v, o), v, sub64(o, b64(1u, 0u)));
}
B64 next_min_u64(const in B64 o, const in B64 v, const in uint f) { return lw_min_u64(o, v); }
B64 next_max_u64(const in B64 o, const in B64 v, const in uint f) { return lw_max_u64(o, v); }
B64 next_min_s64(const in B64 o, const in B64 v, const in uint f) { return lw_min_s64(o, v); }
B64 next_max_s64(const in B64 o, const in B64 v, const in uint f) { return lw_max_s64(o, v); }
B64 next_and_u64(const in B64 o, const in B64 v, const in uint f) { return and64(o, v); }
B64 next_or_u64(const in B64 o, const in B64 v, const in uint f) { return or64(o, v); }
B64 next_xor_u64(const in B64 o, const in B64 v, const in uint f) { return xor64(o, v); }
B64 next_exch_u64(const in B64 o, const in B64 v, const in uint f) { return v; }
/// The state of an mbarrier: runtime/ir/mbarrier.hpp.
B64 next_arrive_u64(const in B64 o, const in B64 v, const in uint f) {
  uint low = lo64(o), high = hi64(o), by = lo64(v), by_high = hi64(v);
  uint pending = (low - by) & 0xfffffu;
  uint expected =
      ((low >> 20 | high << 12) - (by >> 20 | by_high << 12)) & 0xfffffu;
  uint bytes = ((high >> 8) + (by_high >> 8)) & 0x1fffffu, parity = high >> 31;
  if (pending == 0u && bytes == 0u) {
    pending = expected;
    parity ^= 1u;
  }
  return b64(pending | expected << 20, expected >> 12 | bytes << 8 | parity << 31);
}
B64 next_add_f64(const in B64 o, const in B64 v, const in uint f) { return lw_fadd_f64(o, v, 0u); }
B64 next_min_f64(const in B64 o, const in B64 v, const in uint f) {
  return lw_fmin_f64(o, v, f & NAN_WINS);
}
B64 next_max_f64(const in B64 o, const in B64 v, const in uint f) {
  return lw_fmax_f64(o, v, f & NAN_WINS);
}

// --- at a checked offset ---------------------------------------------------------------------------
#define NATIVE32(OP, CALL)                                                              \
  uint rmw_global_##OP(OFF off, uint v, uint f) { return CALL(GLOBAL_WORD(off), v); }   \
  uint rmw_shared_##OP(uint off, uint v, uint f) {                                      \
    if (SHARED_IN_BACKING != 0u) return CALL(BACKING_WORD(off), v);                     \
    return CALL(SHARED_WORD(off), v);                                                   \
  }
NATIVE32(add_u32, atomicAdd)
NATIVE32(min_u32, atomicMin)
NATIVE32(max_u32, atomicMax)
NATIVE32(and_u32, atomicAnd)
NATIVE32(or_u32, atomicOr)
NATIVE32(xor_u32, atomicXor)
NATIVE32(exch_u32, atomicExchange)

#define LOOP32_IN(S, OFFT, OP)                                                          \
  uint rmw_##S##_##OP(OFFT off, uint v, uint f) {                                       \
    uint old = S##_get_strong(off);                                                     \
    for (;;) {                                                                          \
      uint seen = S##_cas(off, old, next_##OP(old, v, f));                              \
      if (seen == old) return old;                                                      \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }
#define LOOP32(OP)                                                                      \
  LOOP32_IN(global, OFF, OP)                                                            \
  LOOP32_IN(shared, uint, OP)
LOOP32(rsub_u32)
LOOP32(inc_u32)
LOOP32(dec_u32)
LOOP32(min_s32)
LOOP32(max_s32)
LOOP32(add_f32)
LOOP32(min_f32)
LOOP32(max_f32)
LOOP32(add_f16x2)
LOOP32(min_f16x2)
LOOP32(max_f16x2)
LOOP32(add_bf16x2)
LOOP32(min_bf16x2)
LOOP32(max_bf16x2)
uint rmw_global_sub_u32(const in OFF off, const in uint v, const in uint f) {
  return rmw_global_add_u32(off, 0u - v, f);
}
uint rmw_shared_sub_u32(const in uint off, const in uint v, const in uint f) {
  return rmw_shared_add_u32(off, 0u - v, f);
}

// 16-bit values: the word around them.
#define LOOP16_IN(S, OFFT, OP)                                                          \
  uint rmw_##S##_##OP(OFFT off, uint v, uint f) {                                       \
    uint shift = (uint(off) & 2u) * 8u, old = S##_get_strong(off);                      \
    for (;;) {                                                                          \
      uint part = (old >> shift) & 0xffffu;                                             \
      uint next = (old & ~(0xffffu << shift)) | next_##OP(part, v, f) << shift;         \
      uint seen = S##_cas(off, old, next);                                              \
      if (seen == old) return part;                                                     \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }                                                                                     
#define LOOP16(OP)                                                                      \
  LOOP16_IN(global, OFF, OP)                                                            \
  LOOP16_IN(shared, uint, OP)
LOOP16(add_f16)
LOOP16(min_f16)
LOOP16(max_f16)
LOOP16(exch_u16)
LOOP16(add_bf16)
LOOP16(min_bf16)
LOOP16(max_bf16)

bool equal_f32(const in uint a, const in uint b) { return small_compare(a, b, 0u); }
bool equal_f64(const in B64 a, const in B64 b) { return lw_fcmp_f64(a, b, 0u, 0u); }
#define SWAP_SMALL_IN(S, OFFT)                                                          \
  uint cas_##S##_cas_u32(OFFT off, uint expected, uint v) { return S##_cas(off, expected, v); } \
  uint cas_##S##_cas_u16(OFFT off, uint expected, uint v) {                             \
    uint shift = (uint(off) & 2u) * 8u, old = S##_get_strong(off);                      \
    for (;;) {                                                                          \
      uint part = (old >> shift) & 0xffffu;                                             \
      if (part != (expected & 0xffffu)) return part;                                    \
      uint next = (old & ~(0xffffu << shift)) | (v & 0xffffu) << shift;                 \
      uint seen = S##_cas(off, old, next);                                              \
      if (seen == old) return part;                                                     \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }                                                                                     \
  uint cas_##S##_fcas_f32(OFFT off, uint expected, uint v) {                            \
    uint old = S##_get_strong(off);                                                     \
    while (equal_f32(old, expected)) {                                                  \
      uint seen = S##_cas(off, old, v);                                                 \
      if (seen == old) return old;                                                      \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }
SWAP_SMALL_IN(global, OFF)
SWAP_SMALL_IN(shared, uint)

// New values from two: the first is a mask of bits to clear, or a limit.
uint next_mskor_u32(const in uint o, const in uint a, const in uint v) { return (o & ~a) | v; }
uint next_wrap_u32(const in uint o, const in uint a, const in uint v) {
  return o >= a ? o - a : o + v;
}
B64 next_mskor_u64(const in B64 o, const in B64 a, const in B64 v) {
  return or64(and64(o, not64(a)), v);
}
B64 next_wrap_u64(const in B64 o, const in B64 a, const in B64 v) {
  return sel64(lt64(o, a), add64(o, v), sub64(o, a));
}
#define LOOP_OF_TWO_IN(S, OFFT, OP)                                                     \
  uint cas_##S##_##OP(OFFT off, uint a, uint v) {                                       \
    uint old = S##_get_strong(off);                                                     \
    for (;;) {                                                                          \
      uint seen = S##_cas(off, old, next_##OP(old, a, v));                              \
      if (seen == old) return old;                                                      \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }
#define LOOP_OF_TWO(OP)                                                                 \
  LOOP_OF_TWO_IN(global, OFF, OP)                                                       \
  LOOP_OF_TWO_IN(shared, uint, OP)
LOOP_OF_TWO(mskor_u32)
LOOP_OF_TWO(wrap_u32)

// 64 bits under the lock.
#define LOCKED_OF_TWO64_IN(S, OFFT, OP)                                                 \
  B64 cas_##S##_##OP(OFFT off, B64 a, B64 v) {                                          \
    B64 old = b64(0u, 0u);                                                              \
    WITH_LOCK(S, old = b64(S##_get_strong(off), S##_get_strong(off + OFFT(4u)));           \
              B64 next = next_##OP(old, a, v); S##_put_strong(off, lo64(next));         \
              S##_put_strong(off + OFFT(4u), hi64(next));)                              \
    return old;                                                                         \
  }
LOCKED_OF_TWO64_IN(shared, uint, mskor_u64)
LOCKED_OF_TWO64_IN(shared, uint, wrap_u64)
#define LOCKED64_IN(S, OFFT, OP)                                                        \
  B64 rmw_##S##_##OP(OFFT off, B64 v, uint f) {                                         \
    B64 old = b64(0u, 0u);                                                              \
    WITH_LOCK(S, old = b64(S##_get_strong(off), S##_get_strong(off + OFFT(4u)));           \
              B64 next = next_##OP(old, v, f); S##_put_strong(off, lo64(next));         \
              S##_put_strong(off + OFFT(4u), hi64(next));)                              \
    return old;                                                                         \
  }
#define LOCKED_SWAP64_IN(S, OFFT, NAME, EQUAL)                                          \
  B64 cas_##S##_##NAME(OFFT off, B64 expected, B64 v) {                                 \
    B64 old = b64(0u, 0u);                                                              \
    WITH_LOCK(S, old = b64(S##_get_strong(off), S##_get_strong(off + OFFT(4u)));           \
              if (EQUAL(old, expected)) {                                               \
                S##_put_strong(off, lo64(v));                                           \
                S##_put_strong(off + OFFT(4u), hi64(v));                                \
              })                                                                        \
    return old;                                                                         \
  }
LOCKED_SWAP64_IN(shared, uint, cas_u64, eq64)
LOCKED_SWAP64_IN(shared, uint, fcas_f64, equal_f64)

#if LW_ATOMIC64
#define GLOBAL64(OP)                                                                    \
  B64 rmw_global_##OP(OFF off, B64 v, uint f) {                                         \
    B64 old = atomicLoad(RefAtomic64(off).v, DEV, BUF, gl_SemanticsRelaxed);            \
    for (;;) {                                                                          \
      B64 seen = atomicCompSwap(RefAtomic64(off).v, old, next_##OP(old, v, f));         \
      if (seen == old) return old;                                                      \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }
#define GLOBAL64_NATIVE(OP, CALL) \
  B64 rmw_global_##OP(OFF off, B64 v, uint f) { return CALL(RefAtomic64(off).v, v); }
#define GLOBAL_OF_TWO64(OP)                                                             \
  B64 cas_global_##OP(OFF off, B64 a, B64 v) {                                          \
    B64 old = atomicLoad(RefAtomic64(off).v, DEV, BUF, gl_SemanticsRelaxed);            \
    for (;;) {                                                                          \
      B64 seen = atomicCompSwap(RefAtomic64(off).v, old, next_##OP(old, a, v));         \
      if (seen == old) return old;                                                      \
      old = seen;                                                                       \
    }                                                                                   \
    return old;                                                                         \
  }
B64 cas_global_cas_u64(const in OFF off, const in B64 expected, const in B64 v) {
  return atomicCompSwap(RefAtomic64(off).v, expected, v);
}
B64 cas_global_fcas_f64(const in OFF off, const in B64 expected, const in B64 v) {
  B64 old = atomicLoad(RefAtomic64(off).v, DEV, BUF, gl_SemanticsRelaxed);
  while (equal_f64(old, expected)) {
    B64 seen = atomicCompSwap(RefAtomic64(off).v, old, v);
    if (seen == old) return old;
    old = seen;
  }
  return old;
}
#else
#define GLOBAL64(OP) LOCKED64_IN(global, OFF, OP)
#define GLOBAL64_NATIVE(OP, CALL) LOCKED64_IN(global, OFF, OP)
#define GLOBAL_OF_TWO64(OP) LOCKED_OF_TWO64_IN(global, OFF, OP)
LOCKED_SWAP64_IN(global, OFF, cas_u64, eq64)
LOCKED_SWAP64_IN(global, OFF, fcas_f64, equal_f64)
#endif
GLOBAL_OF_TWO64(mskor_u64)
GLOBAL_OF_TWO64(wrap_u64)
GLOBAL64_NATIVE(add_u64, atomicAdd)
GLOBAL64_NATIVE(min_u64, atomicMin)
GLOBAL64_NATIVE(max_u64, atomicMax)
GLOBAL64_NATIVE(and_u64, atomicAnd)
GLOBAL64_NATIVE(or_u64, atomicOr)
GLOBAL64_NATIVE(xor_u64, atomicXor)
GLOBAL64_NATIVE(exch_u64, atomicExchange)
GLOBAL64(sub_u64)
GLOBAL64(arrive_u64)
GLOBAL64(rsub_u64)
GLOBAL64(inc_u64)
GLOBAL64(dec_u64)
GLOBAL64(min_s64)
GLOBAL64(max_s64)
GLOBAL64(add_f64)
GLOBAL64(min_f64)
GLOBAL64(max_f64)
#define SHARED64(OP) LOCKED64_IN(shared, uint, OP)
SHARED64(add_u64)
SHARED64(min_u64)
SHARED64(max_u64)
SHARED64(and_u64)
SHARED64(or_u64)
SHARED64(xor_u64)
SHARED64(exch_u64)
SHARED64(sub_u64)
SHARED64(arrive_u64)
SHARED64(rsub_u64)
SHARED64(inc_u64)
SHARED64(dec_u64)
SHARED64(min_s64)
SHARED64(max_s64)
SHARED64(add_f64)
SHARED64(min_f64)
SHARED64(max_f64)

// 128 bits under the lock, on every device.
#define LOCKED128(S, OFFT)                                                              \
  uvec4 rmw_##S##_exch_u128(OFFT off, uvec4 v, uint f) {                                \
    uvec4 old = uvec4(0u);                                                              \
    WITH_LOCK(S, old = S##_words_128_strong(off); S##_put_words_128_strong(off, v);)                   \
    return old;                                                                         \
  }                                                                                     \
  uvec4 cas_##S##_cas_u128(OFFT off, uvec4 expected, uvec4 v) {                         \
    uvec4 old = uvec4(0u);                                                              \
    WITH_LOCK(S, old = S##_words_128_strong(off);                                                \
              if (old == expected) { S##_put_words_128_strong(off, v); })                     \
    return old;                                                                         \
  }
LOCKED128(global, OFF)
LOCKED128(shared, uint)
