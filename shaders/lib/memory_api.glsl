// The exported loads and stores, one small body for each space, width and form. They check nothing:
// the translated kernel has done that, or knows that it need not (runtime/spirv/lane/emit_check.cpp).
//
// Forms: _aligned = to its size; _align4 = words; _align1 = any alignment; _strong = an atomic
// access (of words where it is wider than 64 bits); _whole = of 128 bits at once.

#define BODY(S, FORM, FLAGS, BITS, T, OFFT)                                                    \
  T lw_get_##S##_##BITS##FORM(const in OFFT at) { return fast_##S##_##BITS(at, FLAGS); }       \
  void lw_put_##S##_##BITS##FORM(const in OFFT at, const in T v) {                             \
    fast_##S##_put_##BITS(at, v, FLAGS);                                                       \
  }
// A generic address that means the arena comes as `at`, any other as an offset in its window.
#define GENERIC(FORM, BITS, T)                                                                 \
  T lw_get_generic_##BITS##FORM(const in OFF at, const in uint window, const in uint offset) { \
    if (window == 0u) return lw_get_global_##BITS##FORM(at);                                   \
    if (window == SHARED_WINDOW) return lw_get_shared_##BITS##FORM(offset);                    \
    return lw_get_local_##BITS##FORM(offset);                                                  \
  }                                                                                            \
  void lw_put_generic_##BITS##FORM(const in OFF at, const in uint window,                      \
                                   const in uint offset, const in T v) {                       \
    if (window == 0u) {                                                                        \
      lw_put_global_##BITS##FORM(at, v);                                                       \
    } else if (window == SHARED_WINDOW) {                                                      \
      lw_put_shared_##BITS##FORM(offset, v);                                                   \
    } else {                                                                                   \
      lw_put_local_##BITS##FORM(offset, v);                                                    \
    }                                                                                          \
  }
#define SPACES(FORM, FLAGS, BITS, T)                                                           \
  BODY(global, FORM, FLAGS, BITS, T, OFF)                                                      \
  BODY(shared, FORM, FLAGS, BITS, T, uint)                                                     \
  BODY(local, FORM, FLAGS, BITS, T, uint)                                                      \
  T lw_get_param_##BITS##FORM(const in uint at) { return fast_param_##BITS(at, FLAGS); }       \
  GENERIC(FORM, BITS, T)
#define WEAK_AND_STRONG(FORM, FLAGS, BITS, T)                                                  \
  SPACES(FORM, FLAGS, BITS, T)                                                                 \
  SPACES(FORM##_strong, (FLAGS) | STRONG, BITS, T)
WEAK_AND_STRONG(_aligned, 0u, 8, uint)
WEAK_AND_STRONG(_aligned, 0u, 16, uint)
WEAK_AND_STRONG(_aligned, 0u, 32, uint)
WEAK_AND_STRONG(_aligned, 0u, 64, uvec2)
WEAK_AND_STRONG(_aligned, 0u, 128, uvec4)
WEAK_AND_STRONG(_align1, ALIGN_ANY, 16, uint)
WEAK_AND_STRONG(_align1, ALIGN_ANY, 32, uint)
WEAK_AND_STRONG(_align1, ALIGN_ANY, 64, uvec2)
WEAK_AND_STRONG(_align1, ALIGN_ANY, 128, uvec4)
WEAK_AND_STRONG(_align4, 4u << 8, 64, uvec2)
WEAK_AND_STRONG(_align4, 4u << 8, 128, uvec4)
SPACES(_whole, STRONG | WHOLE, 128, uvec4)
