// The exported loads and stores: find the space, check, access.

uint param_bytes() { return 4u * (uint(launch.w.length()) - LAUNCH_PARAMS); }

#define SMALL_LOAD(S, BITS, N, T, SIZE)                                                        \
  T lw_load_##S##_##BITS(const in uint a, const in uint site, const in uint flags,             \
                         const in bool enabled) {                                               \
    uint off = forced32(a, N, flags);                                                          \
    bool ok = small_ok(off, SIZE, off, N, site, flags, enabled);                               \
    T v = fast_##S##_##BITS(pick(ok, off, 0u), flags);                                         \
    return pick(ok, v, T(0u));                                                                 \
  }
#define SMALL_STORE(S, BITS, N, T, SIZE)                                                       \
  void lw_store_##S##_##BITS(const in uint a, const in T v, const in uint site,                \
                             const in uint flags, const in bool enabled) {                      \
    uint off = forced32(a, N, flags);                                                          \
    if (small_ok(off, SIZE, off, N, site, flags, enabled)) fast_##S##_put_##BITS(off, v, flags);\
  }
/// Generic addresses: 0 global, 1 shared, 2 local (window numbers).
uint window_of(B64 va) {
  uint w = lo64(va) >> 24;
  return hi64(va) == 0u && (w == SHARED_WINDOW || w == LOCAL_WINDOW) ? w : 0u;
}
uint window_size(uint w) { return w == SHARED_WINDOW ? shared_bytes : 4u * LOCAL_WORDS; }

#define GLOBAL_LOAD(BITS, N, T)                                                                \
  T lw_load_global_##BITS(const in B64 a, const in uint site, const in uint flags,             \
                          const in bool enabled) {                                              \
    B64 va = forced64(a, N, flags);                                                            \
    bool ok = global_ok(va, N, site, flags, enabled, false);                                   \
    T v = fast_global_##BITS(global_offset(pick(ok, va, b64(ARENA_BASE, 0u))), flags);         \
    return pick(ok, v, T(0u));                                                                 \
  }                                                                                            \
  T lw_load_generic_##BITS(const in B64 a, const in uint site, const in uint flags,            \
                           const in bool enabled) {                                             \
    B64 va = forced64(a, N, flags);                                                            \
    uint w = window_of(va), off = lo64(va) & 0xffffffu;                                        \
    if (w == 0u) return lw_load_global_##BITS(va, site, flags, enabled);                        \
    if (!small_ok(off, window_size(w), lo64(va), N, site, flags, enabled)) return T(0u);        \
    if (w == SHARED_WINDOW) return fast_shared_##BITS(off, flags);                             \
    return fast_local_##BITS(off, flags);                                                      \
  }
#define GLOBAL_STORE(BITS, N, T)                                                               \
  void lw_store_global_##BITS(const in B64 a, const in T v, const in uint site,                \
                              const in uint flags, const in bool enabled) {                     \
    B64 va = forced64(a, N, flags);                                                            \
    if (global_ok(va, N, site, flags, enabled, true))                                           \
      fast_global_put_##BITS(global_offset(va), v, flags);                                     \
  }                                                                                            \
  void lw_store_generic_##BITS(const in B64 a, const in T v, const in uint site,               \
                               const in uint flags, const in bool enabled) {                    \
    B64 va = forced64(a, N, flags);                                                            \
    uint w = window_of(va), off = lo64(va) & 0xffffffu;                                        \
    if (w == 0u) {                                                                             \
      lw_store_global_##BITS(va, v, site, flags, enabled);                                      \
    } else if (small_ok(off, window_size(w), lo64(va), N, site, flags, enabled)) {              \
      if (w == SHARED_WINDOW) {                                                                \
        fast_shared_put_##BITS(off, v, flags);                                                 \
      } else {                                                                                 \
        fast_local_put_##BITS(off, v, flags);                                                  \
      }                                                                                        \
    }                                                                                          \
  }
/// Parameters cannot be written: the fault says so (when the address is one at all).
#define PARAM_STORE(BITS, N, T)                                                                \
  void lw_store_param_##BITS(const in uint a, const in T v, const in uint site,                \
                             const in uint flags, const in bool enabled) {                      \
    uint off = forced32(a, N, flags), size = param_bytes();                                    \
    if (enabled) lw_fault(size < N || off > size - N ? OUT_OF_RANGE : READ_ONLY, site, off, 0u, N); \
  }
#define ALL_SPACES(BITS, N, T)                                                                 \
  GLOBAL_LOAD(BITS, N, T)                                                                      \
  GLOBAL_STORE(BITS, N, T)                                                                     \
  SMALL_LOAD(shared, BITS, N, T, shared_bytes)                                                 \
  SMALL_STORE(shared, BITS, N, T, shared_bytes)                                                \
  SMALL_LOAD(local, BITS, N, T, 4u * LOCAL_WORDS)                                              \
  SMALL_STORE(local, BITS, N, T, 4u * LOCAL_WORDS)                                             \
  SMALL_LOAD(param, BITS, N, T, param_bytes())                                                 \
  PARAM_STORE(BITS, N, T)
ALL_SPACES(8, 1u, uint)
ALL_SPACES(16, 2u, uint)
ALL_SPACES(32, 4u, uint)
ALL_SPACES(64, 8u, uvec2)
ALL_SPACES(128, 16u, uvec4)
