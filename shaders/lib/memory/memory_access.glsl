// Loads and stores of 8 to 128 bits at checked offsets, for each space, in terms of its words: a body
// for each width and form, with nothing in it that another form needs. Drivers inline these bodies at
// every access and only then find out what is dead, so what is not here costs nothing at first launch.
//
// Names: S_BITS = aligned; S_any_BITS = at any byte, put together from two words where it straddles;
// S_words_BITS = wide, aligned to a word. Then, of loads, _weak or _strong: each word is an atomic
// access; _whole: all of it is one.

uint byte_shift(const in uint off) { return (off & 3u) * 8u; }

// --- loads -----------------------------------------------------------------------------------------
#define READERS(S, OFFT, X, GET, GET_ALIGNED)                                                  \
  uint S##_8##X(const in OFFT off) { return (GET(off) >> byte_shift(uint(off))) & 0xffu; }     \
  uint S##_16##X(const in OFFT off) { return (GET(off) >> byte_shift(uint(off))) & 0xffffu; }  \
  uint S##_32##X(const in OFFT off) { return GET_ALIGNED(off); }                               \
  uint S##_any_16##X(const in OFFT off) {                                                      \
    uint shift = byte_shift(uint(off));                                                        \
    uint v = GET(off) >> shift;                                                                \
    if (shift > 16u) v |= GET(off + OFFT(1u)) << (32u - shift);                                \
    return v & 0xffffu;                                                                        \
  }                                                                                            \
  uint S##_any_32##X(const in OFFT off) {                                                      \
    uint shift = byte_shift(uint(off));                                                        \
    uint v = GET(off) >> shift;                                                                \
    if (shift != 0u) v |= GET(off + OFFT(3u)) << (32u - shift);                                \
    return v;                                                                                  \
  }                                                                                            \
  WIDE_READERS(S##_words_64##X, S##_words_128##X, OFFT, S##_32##X)                             \
  WIDE_READERS(S##_any_64##X, S##_any_128##X, OFFT, S##_any_32##X)
#define WIDE_READERS(GET_64, GET_128, OFFT, GET)                                               \
  uvec2 GET_64(const in OFFT off) { return uvec2(GET(off), GET(off + OFFT(4u))); }             \
  uvec4 GET_128(const in OFFT off) {                                                           \
    return uvec4(GET(off), GET(off + OFFT(4u)), GET(off + OFFT(8u)), GET(off + OFFT(12u)));    \
  }

READERS(global, OFF, _weak, global_get, global_get_aligned)
READERS(global, OFF, _strong, global_get_strong, global_get_strong)
READERS(shared, uint, _weak, shared_get, shared_get_aligned)
READERS(shared, uint, _strong, shared_get_strong, shared_get_strong)
READERS(local, uint, _weak, local_get, local_get_aligned)
READERS(param, uint, _weak, param_get, param_get_aligned)

// --- stores ----------------------------------------------------------------------------------------
// Bits of one word change, its other bytes may be written by other lanes at the same time: only
// compare and swap is right (an AND and an OR would let two racing values mix).
#define MASKED(S, OFFT)                                                                        \
  void S##_masked(const in OFFT off, const in uint v, const in uint mask) {                    \
    uint old = S##_get_strong(off);                                                            \
    for (;;) {                                                                                 \
      uint seen = S##_cas(off, old, (old & ~mask) | (v & mask));                               \
      if (seen == old) return;                                                                 \
      old = seen;                                                                              \
    }                                                                                          \
  }                                                                                            \
  void S##_put_8(const in OFFT off, const in uint v) {                                         \
    uint shift = byte_shift(uint(off));                                                        \
    S##_masked(off, v << shift, 0xffu << shift);                                               \
  }                                                                                            \
  void S##_put_16(const in OFFT off, const in uint v) {                                        \
    uint shift = byte_shift(uint(off));                                                        \
    S##_masked(off, v << shift, 0xffffu << shift);                                             \
  }                                                                                            \
  void S##_put_any_16(const in OFFT off, const in uint v) {                                    \
    uint shift = byte_shift(uint(off));                                                        \
    S##_masked(off, v << shift, 0xffffu << shift);                                             \
    if (shift > 16u) S##_masked(off + OFFT(1u), v >> (32u - shift), 0xffffu >> (32u - shift)); \
  }                                                                                            \
  void S##_put_any_32(const in OFFT off, const in uint v) {                                    \
    uint shift = byte_shift(uint(off));                                                        \
    if (shift == 0u) {                                                                         \
      S##_put_aligned(off, v);                                                                 \
      return;                                                                                  \
    }                                                                                          \
    S##_masked(off, v << shift, ~0u << shift);                                                 \
    S##_masked(off + OFFT(3u), v >> (32u - shift), ~0u >> (32u - shift));                      \
  }                                                                                            \
  WIDE_WRITERS(S##_put_any_64, S##_put_any_128, OFFT, S##_put_any_32)
#define WIDE_WRITERS(PUT_64, PUT_128, OFFT, PUT)                                               \
  void PUT_64(const in OFFT off, const in uvec2 v) {                                           \
    PUT(off, v.x);                                                                             \
    PUT(off + OFFT(4u), v.y);                                                                  \
  }                                                                                            \
  void PUT_128(const in OFFT off, const in uvec4 v) {                                          \
    PUT(off, v.x);                                                                             \
    PUT(off + OFFT(4u), v.y);                                                                  \
    PUT(off + OFFT(8u), v.z);                                                                  \
    PUT(off + OFFT(12u), v.w);                                                                 \
  }

MASKED(global, OFF)
MASKED(shared, uint)
MASKED(local, uint)
WIDE_WRITERS(global_put_words_64, global_put_words_128, OFF, global_put_aligned)
WIDE_WRITERS(global_put_words_64_strong, global_put_words_128_strong, OFF, global_put_strong)
WIDE_WRITERS(shared_put_words_64, shared_put_words_128, uint, shared_put_aligned)
WIDE_WRITERS(shared_put_words_64_strong, shared_put_words_128_strong, uint, shared_put_strong)
WIDE_WRITERS(local_put_words_64, local_put_words_128, uint, local_put_aligned)
void local_put_32(const in uint off, const in uint v) { local_put_aligned(off, v); }

// --- whole accesses --------------------------------------------------------------------------------
// A strong aligned 64-bit access is one access: other lanes see all of it or nothing. So is one of 128
// bits that says it is a whole.
#define WHOLE_64(S, OFFT)                                                                      \
  uvec2 S##_64_whole(const in OFFT off) {                                                      \
    uvec2 v = uvec2(0u);                                                                       \
    WITH_LOCK(S, v = S##_words_64_strong(off);)                                                   \
    return v;                                                                                  \
  }                                                                                            \
  void S##_put_64_whole(const in OFFT off, const in uvec2 v) {                                 \
    WITH_LOCK(S, S##_put_words_64_strong(off, v);)                                                \
  }
#define WHOLE_128(S, OFFT)                                                                     \
  uvec4 S##_128_whole(const in OFFT off) {                                                     \
    uvec4 v = uvec4(0u);                                                                       \
    WITH_LOCK(S, v = S##_words_128_strong(off);)                                                  \
    return v;                                                                                  \
  }                                                                                            \
  void S##_put_128_whole(const in OFFT off, const in uvec4 v) {                                \
    WITH_LOCK(S, S##_put_words_128_strong(off, v);)                                               \
  }
WHOLE_64(shared, uint)
#if LW_ATOMIC64
uvec2 global_64_whole(const in OFF off) {
  return unpackUint2x32(atomicLoad(RefAtomic64(off).v, DEV, BUF, gl_SemanticsRelaxed));
}
void global_put_64_whole(const in OFF off, const in uvec2 v) {
  atomicStore(RefAtomic64(off).v, packUint2x32(v), DEV, BUF, gl_SemanticsRelaxed);
}
#else
WHOLE_64(global, OFF)
#endif
WHOLE_128(global, OFF)
WHOLE_128(shared, uint)

// --- weak global accesses --------------------------------------------------------------------------
#if LW_INT64
// Devices of this tier have byte access and wide access.
uint weak_8(const in OFF off) { return uint(Ref8(off).v); }
uint weak_16(const in OFF off) { return uint(Ref16(off).v); }
uint weak_any_16(const in OFF off) { return uint(Ref8(off).v) | uint(Ref8(off + 1ul).v) << 8; }
uvec2 weak_64(const in OFF off) { return Ref64(off).v; }
uvec4 weak_128(const in OFF off) { return Ref128(off).v; }
void weak_put_8(const in OFF off, const in uint v) { Ref8(off).v = uint8_t(v & 0xffu); }
void weak_put_16(const in OFF off, const in uint v) { Ref16(off).v = uint16_t(v & 0xffffu); }
void weak_put_any_16(const in OFF off, const in uint v) {
  Ref8(off).v = uint8_t(v & 0xffu);
  Ref8(off + 1ul).v = uint8_t((v >> 8) & 0xffu);
}
void weak_put_64(const in OFF off, const in uvec2 v) { Ref64(off).v = v; }
void weak_put_128(const in OFF off, const in uvec4 v) { Ref128(off).v = v; }
#else
#define weak_8 global_8_weak
#define weak_16 global_16_weak
#define weak_any_16 global_any_16_weak
#define weak_64 global_words_64_weak
#define weak_128 global_words_128_weak
#define weak_put_8 global_put_8
#define weak_put_16 global_put_16
#define weak_put_any_16 global_put_any_16
#define weak_put_64 global_put_words_64
#define weak_put_128 global_put_words_128
#endif
