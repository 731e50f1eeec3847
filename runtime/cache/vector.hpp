// The three operations on vectors that a lookup consists of, for processors of the base
// architecture and for those with AVX-512. Which of them runs is decided once, when an Engine is
// made (engine_path.cpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "runtime/cache/mask.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define LANEWISE_WIDE [[gnu::target("avx512f,avx512vl,avx2,bmi,bmi2,popcnt,lzcnt")]]
#endif

namespace lanewise::cache {

#if defined(__x86_64__)
inline constexpr bool kHasWide = true;
inline bool wide_vectors_run() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/// Bit i: column[i] == value. `count` is 4, 8 or 16; the column is aligned to it.
inline uint32_t equal_ways(const uint32_t* column, uint32_t count, uint32_t value) {
  const __m128i want = _mm_set1_epi32(static_cast<int>(value));
  const auto* at = reinterpret_cast<const __m128i*>(column);
  const auto equal = [&](int quad) { return _mm_cmpeq_epi32(_mm_load_si128(at + quad), want); };
  if (count == 4) return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(equal(0))));
  const __m128i low = _mm_packs_epi32(equal(0), equal(1));
  if (count == 8)
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, _mm_setzero_si128())));
  const __m128i high = _mm_packs_epi32(equal(2), equal(3));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}
LANEWISE_WIDE inline uint32_t equal_ways_wide(const uint32_t* column, uint32_t count,
                                              uint32_t value) {
  if (count == 4)
    return _mm_cmpeq_epi32_mask(_mm_load_si128(reinterpret_cast<const __m128i*>(column)),
                                _mm_set1_epi32(static_cast<int>(value)));
  const __m256i want = _mm256_set1_epi32(static_cast<int>(value));
  const auto* at = reinterpret_cast<const __m256i*>(column);
  const uint32_t low = _mm256_cmpeq_epi32_mask(_mm256_load_si256(at), want);
  if (count == 8) return low;
  return low | uint32_t{_mm256_cmpeq_epi32_mask(_mm256_load_si256(at + 1), want)} << 8;
}

/// The least of `count` values below 2^31; count is 4, 8 or a multiple of 16.
inline uint32_t least(const uint32_t* column, uint32_t count) {
  const auto lower = [](__m128i a, __m128i b) {
    const __m128i take_b = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(take_b, b), _mm_andnot_si128(take_b, a));
  };
  const auto* at = reinterpret_cast<const __m128i*>(column);
  __m128i m = _mm_load_si128(at);
  if (count > 4) m = lower(m, _mm_load_si128(at + 1));
  for (const auto* const end = at + count / 4; at + 2 < end; at += 2)
    m = lower(m, lower(_mm_load_si128(at + 2), _mm_load_si128(at + 3)));
  m = lower(m, _mm_shuffle_epi32(m, 0x4e));
  m = lower(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(m));
}
LANEWISE_WIDE inline uint32_t least_wide(const uint32_t* column, uint32_t count) {
  __m128i m;
  if (count <= 4) {
    m = _mm_load_si128(reinterpret_cast<const __m128i*>(column));
  } else {
    const auto* at = reinterpret_cast<const __m256i*>(column);
    __m256i half = _mm256_load_si256(at);
    for (uint32_t i = 1; i < count / 8; ++i)
      half = _mm256_min_epu32(half, _mm256_load_si256(at + i));
    m = _mm_min_epu32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  }
  m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(m));
}

/// Bit i: the i-th 32-byte sector has a byte in the mask.
LANEWISE_WIDE inline unsigned sectors32_wide(const Mask& m) {
  const __m128i v = _mm_set_epi64x(static_cast<long long>(m.hi), static_cast<long long>(m.lo));
  return _mm_test_epi32_mask(v, v);
}
LANEWISE_WIDE inline unsigned bytes_wide(const Mask& m) {
  return static_cast<unsigned>(_mm_popcnt_u64(m.lo) + _mm_popcnt_u64(m.hi));
}
#else
inline constexpr bool kHasWide = false;
inline bool wide_vectors_run() {
  return false;
}

inline uint32_t equal_ways(const uint32_t* column, uint32_t count, uint32_t value) {
  uint32_t hits = 0;
  for (unsigned i = 0; i < count; ++i) hits |= static_cast<uint32_t>(column[i] == value) << i;
  return hits;
}
inline uint32_t least(const uint32_t* column, uint32_t count) {
  return *std::min_element(column, column + count);
}
#endif

}  // namespace lanewise::cache
