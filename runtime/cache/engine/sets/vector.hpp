// The operations on vectors that a lookup consists of, for processors of the base architecture and
// for those with AVX2. Which of them runs is decided once, when an Engine is made
// (engine_plain.cpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "runtime/cache/engine/sets/mask.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define LANEWISE_WIDE [[gnu::target("avx2,bmi,bmi2,popcnt,lzcnt")]]
#define LANEWISE_WIDEST \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt,lzcnt")]]
#endif

namespace lanewise::cache {

/// A Mask as its four sectors. Operators work on each of them; == gives all ones or 0.
using Sectors = uint32_t __attribute__((vector_size(16)));
inline Sectors sectors_of(const Mask& m) {
  Sectors s;
  std::memcpy(&s, &m, sizeof s);
  return s;
}
inline void put(Mask& m, Sectors s) {
  std::memcpy(static_cast<void*>(&m), &s, sizeof s);
}

#if defined(__x86_64__)
inline bool wide_vectors_run() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

inline bool widest_vectors_run() {
  return wide_vectors_run() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

/// Bit i: the i-th of four values has its highest bit set.
inline unsigned signs(Sectors s) {
  return static_cast<unsigned>(_mm_movemask_ps(std::bit_cast<__m128>(s)));
}
/// Bit i: the i-th of four values is not 0.
inline unsigned not_zero(Sectors s) {
  const __m128i zero = _mm_cmpeq_epi32(std::bit_cast<__m128i>(s), _mm_setzero_si128());
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(zero))) ^ 15;
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
LANEWISE_WIDE inline uint32_t signs_wide(__m256i v) {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(v)));
}
LANEWISE_WIDE inline uint32_t equal_ways_wide(const uint32_t* column, uint32_t count,
                                              uint32_t value) {
  if (count == 4) {
    const __m128i want = _mm_set1_epi32(static_cast<int>(value));
    const __m128i equal =
        _mm_cmpeq_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(column)), want);
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(equal)));
  }
  const __m256i want = _mm256_set1_epi32(static_cast<int>(value));
  const auto* at = reinterpret_cast<const __m256i*>(column);
  const uint32_t low = signs_wide(_mm256_cmpeq_epi32(_mm256_load_si256(at), want));
  if (count == 8) return low;
  return low | signs_wide(_mm256_cmpeq_epi32(_mm256_load_si256(at + 1), want)) << 8;
}

/// The same for 32 of them.
LANEWISE_WIDE inline uint32_t equal_32_wide(const uint32_t* column, uint32_t value) {
  const __m256i want = _mm256_set1_epi32(static_cast<int>(value));
  const auto* at = reinterpret_cast<const __m256i*>(column);
  const __m256i low = _mm256_packs_epi32(_mm256_cmpeq_epi32(_mm256_load_si256(at), want),
                                         _mm256_cmpeq_epi32(_mm256_load_si256(at + 1), want));
  const __m256i high = _mm256_packs_epi32(_mm256_cmpeq_epi32(_mm256_load_si256(at + 2), want),
                                          _mm256_cmpeq_epi32(_mm256_load_si256(at + 3), want));
  const __m256i bytes = _mm256_packs_epi16(low, high);
  // Packing works on halves, so groups of four ways stand in the order 0 2 4 6 1 3 5 7.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order)));
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

/// Bit i: way i has the least of 4 or 16 stamps.
LANEWISE_WIDE inline uint32_t oldest4_wide(const uint32_t* stamps) {
  const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(stamps));
  __m128i m = _mm_min_epu32(all, _mm_shuffle_epi32(all, 0x4e));
  m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(all, m))));
}
LANEWISE_WIDE inline uint32_t least_of_16(__m256i low, __m256i high) {
  const __m256i half = _mm256_min_epu32(low, high);
  __m128i m = _mm_min_epu32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(m));
}
LANEWISE_WIDE inline uint32_t oldest16_wide(const uint32_t* stamps) {
  return equal_ways_wide(stamps, 16, least_wide(stamps, 16));
}
/// Bit i: way i has the least of 32 stamps.
LANEWISE_WIDE inline uint32_t oldest32_wide(const uint32_t* stamps) {
  const auto* at = reinterpret_cast<const __m256i*>(stamps);
  const uint32_t least =
      least_of_16(_mm256_min_epu32(_mm256_load_si256(at), _mm256_load_si256(at + 1)),
                  _mm256_min_epu32(_mm256_load_si256(at + 2), _mm256_load_si256(at + 3)));
  return equal_32_wide(stamps, least);
}
struct Stamped {
  uint32_t stamp, ways;  ///< a bit a way
};
/// The least of 16 stamps but for that of one way, and who has it.
LANEWISE_WIDE inline Stamped next_oldest16_wide(const uint32_t* stamps, uint32_t but) {
  const auto* at = reinterpret_cast<const __m256i*>(stamps);
  const __m256i low_ways = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i way = _mm256_set1_epi32(static_cast<int>(but));
  const __m256i low = _mm256_or_si256(_mm256_load_si256(at), _mm256_cmpeq_epi32(low_ways, way));
  const __m256i high =
      _mm256_or_si256(_mm256_load_si256(at + 1),
                      _mm256_cmpeq_epi32(_mm256_add_epi32(low_ways, _mm256_set1_epi32(8)), way));
  const uint32_t least = least_of_16(low, high);
  const __m256i want = _mm256_set1_epi32(static_cast<int>(least));
  return {least, signs_wide(_mm256_cmpeq_epi32(low, want)) |
                     signs_wide(_mm256_cmpeq_epi32(high, want)) << 8};
}
/// These in fewer steps.
LANEWISE_WIDEST inline uint32_t equal16_widest(const uint32_t* column, uint32_t value) {
  return _mm512_cmpeq_epi32_mask(_mm512_load_si512(column),
                                 _mm512_set1_epi32(static_cast<int>(value)));
}
LANEWISE_WIDEST inline uint32_t oldest16_widest(const uint32_t* stamps) {
  return equal16_widest(stamps, least_wide(stamps, 16));
}
LANEWISE_WIDEST inline Stamped next_oldest16_widest(const uint32_t* stamps, uint32_t but) {
  const auto* at = reinterpret_cast<const __m256i*>(stamps);
  const uint32_t bit = 1U << but;
  const uint32_t least = least_of_16(
      _mm256_mask_set1_epi32(_mm256_load_si256(at), static_cast<__mmask8>(bit), -1),
      _mm256_mask_set1_epi32(_mm256_load_si256(at + 1), static_cast<__mmask8>(bit >> 8), -1));
  return {least, equal16_widest(stamps, least) & ~bit};
}
LANEWISE_WIDE inline bool covers_wide(__m128i all, __m128i some) {
  return _mm_testc_si128(all, some) != 0;
}
LANEWISE_WIDE inline bool some_wide(__m128i s) {
  return _mm_testz_si128(s, s) == 0;
}
LANEWISE_WIDE inline unsigned bytes_wide(const Mask& m) {
  return static_cast<unsigned>(_mm_popcnt_u64(m.lo) + _mm_popcnt_u64(m.hi));
}
#else

inline unsigned signs(Sectors s) {
  unsigned bits = 0;
  for (unsigned i = 0; i < 4; ++i) bits |= (s[i] >> 31) << i;
  return bits;
}
inline unsigned not_zero(Sectors s) {
  unsigned bits = 0;
  for (unsigned i = 0; i < 4; ++i) bits |= static_cast<unsigned>(s[i] != 0) << i;
  return bits;
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
