// Loads and stores of 8 to 128 bits at checked offsets, for each space, in terms of its words.
// A straddling access (rule `any`, or a small declared alignment) is put together from two words.

#define READERS(S, OFFT)                                                                       \
  uint S##_word(OFFT off, uint flags) {                                                        \
    if (strong(flags)) return S##_get_strong(off);                                             \
    return S##_get(off);                                                                       \
  }                                                                                            \
  uint S##_bits(OFFT off, uint n, uint flags) {                                                \
    if (n == 4u && !may_straddle(4u, flags)) {                                                 \
      if (strong(flags)) return S##_get_strong(off);                                           \
      return S##_get_aligned(off);                                                             \
    }                                                                                          \
    uint shift = (uint(off) & 3u) * 8u;                                                        \
    uint v = S##_word(off, flags) >> shift;                                                    \
    if (n == 1u) return v & 0xffu;                                                             \
    if (n == 2u && !may_straddle(2u, flags)) return v & 0xffffu;                               \
    if (shift + 8u * n > 32u) v |= S##_word(off + OFFT(n - 1u), flags) << (32u - shift);       \
    return n == 2u ? v & 0xffffu : v;                                                          \
  }

// Bits of one word change, its other bytes may be written by other lanes at the same time: only
// compare and swap is right (an AND and an OR would let two racing values mix).
#define WRITERS(S, OFFT)                                                                       \
  void S##_masked(OFFT off, uint v, uint mask) {                                               \
    uint old = S##_get_strong(off);                                                            \
    for (;;) {                                                                                 \
      uint seen = S##_cas(off, old, (old & ~mask) | (v & mask));                               \
      if (seen == old) return;                                                                 \
      old = seen;                                                                              \
    }                                                                                          \
  }                                                                                            \
  void S##_put_word(OFFT off, uint v, uint flags) {                                            \
    if (strong(flags)) {                                                                       \
      S##_put_strong(off, v);                                                                  \
    } else {                                                                                   \
      S##_put_aligned(off, v);                                                                 \
    }                                                                                          \
  }                                                                                            \
  void S##_put_bits(OFFT off, uint v, uint n, uint flags) {                                    \
    if (n == 4u && !may_straddle(4u, flags)) {                                                 \
      S##_put_word(off, v, flags);                                                             \
      return;                                                                                  \
    }                                                                                          \
    uint shift = (uint(off) & 3u) * 8u;                                                        \
    if (n == 4u && shift == 0u) {                                                              \
      S##_put_word(off, v, flags);                                                             \
      return;                                                                                  \
    }                                                                                          \
    uint mask = n == 1u ? 0xffu : n == 2u ? 0xffffu : ~0u;                                     \
    S##_masked(off, v << shift, mask << shift);                                                \
    if (n > 1u && may_straddle(n, flags) && shift + 8u * n > 32u)                              \
      S##_masked(off + OFFT(n - 1u), v >> (32u - shift), mask >> (32u - shift));               \
  }

READERS(global, OFF)
READERS(shared, uint)
READERS(local, uint)
READERS(param, uint)
void local_put_strong(uint off, uint v) { local_put(off, v); }
WRITERS(global, OFF)
WRITERS(shared, uint)
WRITERS(local, uint)

/// Flags for the words of a wide access: as aligned as the whole is, at most 4.
uint word_flags(uint n, uint flags) {
  return (flags & 7u) | min(alignment_of(n, flags), 4u) << 8;
}

#define WIDE(S, OFFT)                                                                          \
  uvec2 S##_pair(OFFT off, uint flags) {                                                       \
    uint f = word_flags(8u, flags);                                                            \
    return uvec2(S##_bits(off, 4u, f), S##_bits(off + OFFT(4u), 4u, f));                       \
  }                                                                                            \
  uvec4 S##_quad(OFFT off, uint flags) {                                                       \
    uint f = word_flags(16u, flags);                                                           \
    return uvec4(S##_bits(off, 4u, f), S##_bits(off + OFFT(4u), 4u, f),                        \
                 S##_bits(off + OFFT(8u), 4u, f), S##_bits(off + OFFT(12u), 4u, f));           \
  }
#define WIDE_PUT(S, OFFT)                                                                      \
  void S##_put_pair(OFFT off, uvec2 v, uint flags) {                                           \
    uint f = word_flags(8u, flags);                                                            \
    S##_put_bits(off, v.x, 4u, f);                                                             \
    S##_put_bits(off + OFFT(4u), v.y, 4u, f);                                                  \
  }                                                                                            \
  void S##_put_quad(OFFT off, uvec4 v, uint flags) {                                           \
    uint f = word_flags(16u, flags);                                                           \
    S##_put_bits(off, v.x, 4u, f);                                                             \
    S##_put_bits(off + OFFT(4u), v.y, 4u, f);                                                  \
    S##_put_bits(off + OFFT(8u), v.z, 4u, f);                                                  \
    S##_put_bits(off + OFFT(12u), v.w, 4u, f);                                                 \
  }
WIDE(global, OFF)
WIDE(shared, uint)
WIDE(local, uint)
WIDE(param, uint)
WIDE_PUT(global, OFF)
WIDE_PUT(shared, uint)
WIDE_PUT(local, uint)

// A strong aligned 64-bit access is one access: other lanes see all of it or nothing.
uvec2 shared_pair_whole(uint off) {
  uvec2 v = uvec2(0u);
  WITH_LOCK(v = uvec2(shared_get_strong(off), shared_get_strong(off + 4u));)
  return v;
}
void shared_put_pair_whole(uint off, uvec2 v) {
  WITH_LOCK(shared_put_strong(off, v.x); shared_put_strong(off + 4u, v.y);)
}
#if LW_ATOMIC64
uvec2 global_pair_whole(OFF off) {
  return unpackUint2x32(atomicLoad(RefAtomic64(off).v, DEV, BUF, gl_SemanticsRelaxed));
}
void global_put_pair_whole(OFF off, uvec2 v) {
  atomicStore(RefAtomic64(off).v, packUint2x32(v), DEV, BUF, gl_SemanticsRelaxed);
}
#else
uvec2 global_pair_whole(OFF off) {
  uvec2 v = uvec2(0u);
  WITH_LOCK(v = uvec2(global_get_strong(off), global_get_strong(off + OFF(4u)));)
  return v;
}
void global_put_pair_whole(OFF off, uvec2 v) {
  WITH_LOCK(global_put_strong(off, v.x); global_put_strong(off + OFF(4u), v.y);)
}
#endif

// So is one of 128 bits that says it is a whole.
bool whole(uint n, uint flags) {
  return both((flags & (STRONG | WHOLE)) == (STRONG | WHOLE), !may_straddle(n, flags));
}
#define WHOLE_QUAD(S, OFFT)                                                                    \
  uvec4 S##_quad_words(OFFT off) {                                                             \
    return uvec4(S##_get_strong(off), S##_get_strong(off + OFFT(4u)),                          \
                 S##_get_strong(off + OFFT(8u)), S##_get_strong(off + OFFT(12u)));             \
  }                                                                                            \
  void S##_put_quad_words(OFFT off, uvec4 v) {                                                 \
    S##_put_strong(off, v.x);                                                                  \
    S##_put_strong(off + OFFT(4u), v.y);                                                       \
    S##_put_strong(off + OFFT(8u), v.z);                                                       \
    S##_put_strong(off + OFFT(12u), v.w);                                                      \
  }                                                                                            \
  uvec4 S##_quad_whole(OFFT off) {                                                             \
    uvec4 v = uvec4(0u);                                                                       \
    WITH_LOCK(v = S##_quad_words(off);)                                                        \
    return v;                                                                                  \
  }                                                                                            \
  void S##_put_quad_whole(OFFT off, uvec4 v) { WITH_LOCK(S##_put_quad_words(off, v);) }
WHOLE_QUAD(global, OFF)
WHOLE_QUAD(shared, uint)

#if LW_INT64
// Devices of this tier have byte access and wide access; strong narrow access stays on words.
uint fast_global_8(OFF off, uint flags) {
  if (strong(flags)) return global_bits(off, 1u, flags);
  return uint(Ref8(off).v);
}
uint fast_global_16(OFF off, uint flags) {
  if (strong(flags)) return global_bits(off, 2u, flags);
  if (may_straddle(2u, flags)) return uint(Ref8(off).v) | uint(Ref8(off + 1ul).v) << 8;
  return uint(Ref16(off).v);
}
uint fast_global_32(OFF off, uint flags) { return global_bits(off, 4u, flags); }
uvec2 fast_global_64(OFF off, uint flags) {
  if (may_straddle(8u, flags)) return global_pair(off, flags);
  if (strong(flags)) return global_pair_whole(off);
  return Ref64(off).v;
}
uvec4 fast_global_128(OFF off, uint flags) {
  if (whole(16u, flags)) return global_quad_whole(off);
  if (may_straddle(16u, flags) || strong(flags)) return global_quad(off, flags);
  return Ref128(off).v;
}
void fast_global_put_8(OFF off, uint v, uint flags) {
  if (strong(flags)) {
    global_put_bits(off, v, 1u, flags);
  } else {
    Ref8(off).v = uint8_t(v & 0xffu);
  }
}
void fast_global_put_16(OFF off, uint v, uint flags) {
  if (strong(flags)) {
    global_put_bits(off, v, 2u, flags);
  } else if (may_straddle(2u, flags)) {
    Ref8(off).v = uint8_t(v & 0xffu);
    Ref8(off + 1ul).v = uint8_t((v >> 8) & 0xffu);
  } else {
    Ref16(off).v = uint16_t(v & 0xffffu);
  }
}
void fast_global_put_32(OFF off, uint v, uint flags) { global_put_bits(off, v, 4u, flags); }
void fast_global_put_64(OFF off, uvec2 v, uint flags) {
  if (may_straddle(8u, flags)) {
    global_put_pair(off, v, flags);
  } else if (strong(flags)) {
    global_put_pair_whole(off, v);
  } else {
    Ref64(off).v = v;
  }
}
void fast_global_put_128(OFF off, uvec4 v, uint flags) {
  if (whole(16u, flags)) {
    global_put_quad_whole(off, v);
  } else if (may_straddle(16u, flags) || strong(flags)) {
    global_put_quad(off, v, flags);
  } else {
    Ref128(off).v = v;
  }
}
#else
uint fast_global_8(OFF off, uint flags) { return global_bits(off, 1u, flags); }
uint fast_global_16(OFF off, uint flags) { return global_bits(off, 2u, flags); }
uint fast_global_32(OFF off, uint flags) { return global_bits(off, 4u, flags); }
uvec2 fast_global_64(OFF off, uint flags) {
  if (strong(flags) && !may_straddle(8u, flags)) return global_pair_whole(off);
  return global_pair(off, flags);
}
uvec4 fast_global_128(OFF off, uint flags) {
  if (whole(16u, flags)) return global_quad_whole(off);
  return global_quad(off, flags);
}
void fast_global_put_8(OFF off, uint v, uint flags) { global_put_bits(off, v, 1u, flags); }
void fast_global_put_16(OFF off, uint v, uint flags) { global_put_bits(off, v, 2u, flags); }
void fast_global_put_32(OFF off, uint v, uint flags) { global_put_bits(off, v, 4u, flags); }
void fast_global_put_64(OFF off, uvec2 v, uint flags) {
  if (strong(flags) && !may_straddle(8u, flags)) {
    global_put_pair_whole(off, v);
  } else {
    global_put_pair(off, v, flags);
  }
}
void fast_global_put_128(OFF off, uvec4 v, uint flags) {
  if (whole(16u, flags)) {
    global_put_quad_whole(off, v);
  } else {
    global_put_quad(off, v, flags);
  }
}
#endif

#define FAST_SMALL(S)                                                                          \
  uint fast_##S##_8(uint off, uint flags) { return S##_bits(off, 1u, flags); }                 \
  uint fast_##S##_16(uint off, uint flags) { return S##_bits(off, 2u, flags); }                \
  uint fast_##S##_32(uint off, uint flags) { return S##_bits(off, 4u, flags); }
#define FAST_SMALL_PUT(S)                                                                      \
  void fast_##S##_put_8(uint off, uint v, uint flags) { S##_put_bits(off, v, 1u, flags); }     \
  void fast_##S##_put_16(uint off, uint v, uint flags) { S##_put_bits(off, v, 2u, flags); }    \
  void fast_##S##_put_32(uint off, uint v, uint flags) { S##_put_bits(off, v, 4u, flags); }
FAST_SMALL(shared)
FAST_SMALL(local)
FAST_SMALL(param)
FAST_SMALL_PUT(shared)
FAST_SMALL_PUT(local)
uvec4 fast_local_128(uint off, uint flags) { return local_quad(off, flags); }
uvec4 fast_param_128(uint off, uint flags) { return param_quad(off, flags); }
void fast_local_put_128(uint off, uvec4 v, uint flags) { local_put_quad(off, v, flags); }
uvec4 fast_shared_128(uint off, uint flags) {
  if (whole(16u, flags)) return shared_quad_whole(off);
  return shared_quad(off, flags);
}
void fast_shared_put_128(uint off, uvec4 v, uint flags) {
  if (whole(16u, flags)) {
    shared_put_quad_whole(off, v);
  } else {
    shared_put_quad(off, v, flags);
  }
}
uvec2 fast_local_64(uint off, uint flags) { return local_pair(off, flags); }
uvec2 fast_param_64(uint off, uint flags) { return param_pair(off, flags); }
void fast_local_put_64(uint off, uvec2 v, uint flags) { local_put_pair(off, v, flags); }
uvec2 fast_shared_64(uint off, uint flags) {
  if (strong(flags) && !may_straddle(8u, flags)) return shared_pair_whole(off);
  return shared_pair(off, flags);
}
void fast_shared_put_64(uint off, uvec2 v, uint flags) {
  if (strong(flags) && !may_straddle(8u, flags)) {
    shared_put_pair_whole(off, v);
  } else {
    shared_put_pair(off, v, flags);
  }
}
