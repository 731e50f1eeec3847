// The exported atomics; like loads and stores they check nothing. Local memory has none.

#define ZERO_uint 0u
#define ZERO_B64 b64(0u, 0u)
#define ZERO_uvec4 uvec4(0u)

// `flags` matters to float atomics (bits 3 and 5); where `enabled` is false nothing happens.
// NAME is op_type as exported, IMPL the function that does it (sign-agnostic ones share one).
#define ATOM(NAME, IMPL, T, N)                                                                  \
  T lw_atom_global_##NAME(const in OFF at, const in T v, const in uint flags,                   \
                          const in bool enabled) {                                               \
    if (!enabled) return ZERO_##T;                                                               \
    return rmw_global_##IMPL(at, v, flags);                                                     \
  }                                                                                             \
  T lw_atom_shared_##NAME(const in uint at, const in T v, const in uint flags,                  \
                          const in bool enabled) {                                               \
    if (!enabled) return ZERO_##T;                                                               \
    return rmw_shared_##IMPL(at, v, flags);                                                     \
  }                                                                                             \
  T lw_atom_generic_##NAME(const in OFF at, const in uint window, const in uint offset,         \
                           const in T v, const in uint flags, const in bool enabled) {           \
    if (window == 0u) return lw_atom_global_##NAME(at, v, flags, enabled);                       \
    return lw_atom_shared_##NAME(offset, v, flags, enabled && window == SHARED_WINDOW);          \
  }
#define SWAP(NAME, T, N)                                                                        \
  T lw_atom_global_##NAME(const in OFF at, const in T expected, const in T v,                   \
                          const in uint flags, const in bool enabled) {                          \
    if (!enabled) return ZERO_##T;                                                               \
    return cas_global_##NAME(at, expected, v);                                                  \
  }                                                                                             \
  T lw_atom_shared_##NAME(const in uint at, const in T expected, const in T v,                  \
                          const in uint flags, const in bool enabled) {                          \
    if (!enabled) return ZERO_##T;                                                               \
    return cas_shared_##NAME(at, expected, v);                                                  \
  }                                                                                             \
  T lw_atom_generic_##NAME(const in OFF at, const in uint window, const in uint offset,         \
                           const in T expected, const in T v, const in uint flags,              \
                           const in bool enabled) {                                              \
    if (window == 0u) return lw_atom_global_##NAME(at, expected, v, flags, enabled);             \
    return lw_atom_shared_##NAME(offset, expected, v, flags,                                    \
                                 enabled && window == SHARED_WINDOW);                            \
  }

#define BOTH_SIGNS(OP)                  \
  ATOM(OP##_u32, OP##_u32, uint, 4u)    \
  ATOM(OP##_s32, OP##_u32, uint, 4u)    \
  ATOM(OP##_u64, OP##_u64, B64, 8u)     \
  ATOM(OP##_s64, OP##_u64, B64, 8u)
#define UNSIGNED(OP)                    \
  ATOM(OP##_u32, OP##_u32, uint, 4u)    \
  ATOM(OP##_u64, OP##_u64, B64, 8u)
#define FLOATS(OP)                      \
  ATOM(OP##_f16, OP##_f16, uint, 2u)    \
  ATOM(OP##_f16x2, OP##_f16x2, uint, 4u)\
  ATOM(OP##_bf16, OP##_bf16, uint, 2u)  \
  ATOM(OP##_bf16x2, OP##_bf16x2, uint, 4u)\
  ATOM(OP##_f32, OP##_f32, uint, 4u)    \
  ATOM(OP##_f64, OP##_f64, B64, 8u)
BOTH_SIGNS(add)
BOTH_SIGNS(sub)
BOTH_SIGNS(rsub)
UNSIGNED(inc)
UNSIGNED(dec)
UNSIGNED(and)
UNSIGNED(or)
UNSIGNED(xor)
UNSIGNED(exch)
ATOM(exch_u16, exch_u16, uint, 2u)
ATOM(arrive_u64, arrive_u64, B64, 8u)
UNSIGNED(min)
UNSIGNED(max)
ATOM(min_s32, min_s32, uint, 4u)
ATOM(max_s32, max_s32, uint, 4u)
ATOM(min_s64, min_s64, B64, 8u)
ATOM(max_s64, max_s64, B64, 8u)
FLOATS(add)
FLOATS(min)
FLOATS(max)
SWAP(cas_u16, uint, 2u)
SWAP(cas_u32, uint, 4u)
SWAP(cas_u64, B64, 8u)
SWAP(cas_u128, uvec4, 16u)
ATOM(exch_u128, exch_u128, uvec4, 16u)
SWAP(fcas_f32, uint, 4u)
SWAP(fcas_f64, B64, 8u)
SWAP(mskor_u32, uint, 4u)
SWAP(mskor_u64, B64, 8u)
SWAP(wrap_u32, uint, 4u)
SWAP(wrap_u64, B64, 8u)
