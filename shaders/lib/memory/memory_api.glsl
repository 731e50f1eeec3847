// The exported loads and stores, one small body for each space, width and form. They check nothing:
// the translated kernel has done that, or knows that it need not (runtime/spirv/lane/emit_check.cpp).
//
// Forms: _aligned = to its size; _align4 = words; _align1 = any alignment; _strong = an atomic
// access (of words where it is wider than 64 bits); _whole = of 128 bits at once.

#define READ(S, OFFT, FORM, T, BODY) \
  T lw_get_##S##_##FORM(const in OFFT at) { return BODY(at); }
#define BODIES(S, OFFT, FORM, T, GET, PUT) \
  READ(S, OFFT, FORM, T, GET)              \
  void lw_put_##S##_##FORM(const in OFFT at, const in T v) { PUT(at, v); }
// A generic address that means the arena comes as `at`, any other as an offset in its window.
#define GENERIC(FORM, T)                                                                       \
  T lw_get_generic_##FORM(const in OFF at, const in uint window, const in uint offset) {       \
    if (window == 0u) return lw_get_global_##FORM(at);                                         \
    if (window == SHARED_WINDOW) return lw_get_shared_##FORM(offset);                          \
    return lw_get_local_##FORM(offset);                                                        \
  }                                                                                            \
  void lw_put_generic_##FORM(const in OFF at, const in uint window, const in uint offset,      \
                             const in T v) {                                                   \
    if (window == 0u) {                                                                        \
      lw_put_global_##FORM(at, v);                                                             \
    } else if (window == SHARED_WINDOW) {                                                      \
      lw_put_shared_##FORM(offset, v);                                                         \
    } else {                                                                                   \
      lw_put_local_##FORM(offset, v);                                                          \
    }                                                                                          \
  }
// The launch's record, which only the host's own code reaches (LaunchRequest::record).
#define RECORD(at) BACKING(launch.w[LAUNCH_RECORD] + ((at) >> 2))
uint lw_get_code_32_aligned(const in uint at) { return RECORD(at); }
void lw_put_code_32_aligned(const in uint at, const in uint v) { RECORD(at) = v; }
uvec2 lw_get_code_64_aligned(const in uint at) { return uvec2(RECORD(at), RECORD(at + 4u)); }
void lw_put_code_64_aligned(const in uint at, const in uvec2 v) {
  RECORD(at) = v.x;
  RECORD(at + 4u) = v.y;
}

// Of FORM: the bodies global_GG / global_put_GG, of shared memory SG, SP, and of local memory and
// parameters, where strong access is plain access, L.
#define SPACES(FORM, T, GG, GP, SG, SP, L)             \
  BODIES(global, OFF, FORM, T, GG, GP)                 \
  BODIES(shared, uint, FORM, T, shared_##SG, shared_put_##SP) \
  BODIES(local, uint, FORM, T, local_##L##_weak, local_put_##L) \
  READ(param, uint, FORM, T, param_##L##_weak)         \
  GENERIC(FORM, T)

SPACES(8_aligned, uint, weak_8, weak_put_8, 8_weak, 8, 8)
SPACES(16_aligned, uint, weak_16, weak_put_16, 16_weak, 16, 16)
SPACES(32_aligned, uint, global_32_weak, global_put_aligned, 32_weak, aligned, 32)
SPACES(64_aligned, uvec2, weak_64, weak_put_64, words_64_weak, words_64, words_64)
SPACES(128_aligned, uvec4, weak_128, weak_put_128, words_128_weak, words_128, words_128)
SPACES(16_align1, uint, weak_any_16, weak_put_any_16, any_16_weak, any_16, any_16)
SPACES(32_align1, uint, global_any_32_weak, global_put_any_32, any_32_weak, any_32, any_32)
SPACES(64_align1, uvec2, global_any_64_weak, global_put_any_64, any_64_weak, any_64, any_64)
SPACES(128_align1, uvec4, global_any_128_weak, global_put_any_128, any_128_weak, any_128, any_128)
SPACES(64_align4, uvec2, global_words_64_weak, global_put_words_64, words_64_weak, words_64,
       words_64)
SPACES(128_align4, uvec4, global_words_128_weak, global_put_words_128, words_128_weak, words_128,
       words_128)

SPACES(8_aligned_strong, uint, global_8_strong, global_put_8, 8_strong, 8, 8)
SPACES(16_aligned_strong, uint, global_16_strong, global_put_16, 16_strong, 16, 16)
SPACES(32_aligned_strong, uint, global_32_strong, global_put_strong, 32_strong, strong, 32)
SPACES(64_aligned_strong, uvec2, global_64_whole, global_put_64_whole, 64_whole, 64_whole, words_64)
SPACES(128_aligned_strong, uvec4, global_words_128_strong, global_put_words_128_strong,
       words_128_strong, words_128_strong, words_128)
SPACES(16_align1_strong, uint, global_any_16_strong, global_put_any_16, any_16_strong, any_16,
       any_16)
SPACES(32_align1_strong, uint, global_any_32_strong, global_put_any_32, any_32_strong, any_32,
       any_32)
SPACES(64_align1_strong, uvec2, global_any_64_strong, global_put_any_64, any_64_strong, any_64,
       any_64)
SPACES(128_align1_strong, uvec4, global_any_128_strong, global_put_any_128, any_128_strong,
       any_128, any_128)
SPACES(64_align4_strong, uvec2, global_words_64_strong, global_put_words_64_strong,
       words_64_strong, words_64_strong, words_64)
SPACES(128_align4_strong, uvec4, global_words_128_strong, global_put_words_128_strong,
       words_128_strong, words_128_strong, words_128)
SPACES(128_whole, uvec4, global_128_whole, global_put_128_whole, 128_whole, 128_whole, words_128)
