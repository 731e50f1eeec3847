// Bytes of a line and the sectors they touch, for lines and sectors of one size that is known when
// this is compiled, with the same few steps for any bytes.
#pragma once

#include <type_traits>

#include "runtime/cache/engine/sets/vector.hpp"

namespace lanewise::cache {

template <bool kWide, unsigned kLine, unsigned kSector>
struct StreamMasks {
  static_assert(kSector == 32 || kSector == kLine);
  static constexpr bool kOneSector = kSector == kLine, kHalf = kLine < kBlockBytes;
  /// A bit for each byte of the line, which is a block or half of one.
  using Bytes = std::conditional_t<kHalf, uint64_t, Sectors>;

  /// Of a mask that has bytes of one line.
  static Bytes of(const Mask& m) {
    if constexpr (kHalf)
      return m.lo | m.hi;
    else
      return sectors_of(m);
  }
  /// The line's bytes of a mask.
  static void put(Mask& m, [[maybe_unused]] uint64_t line, Bytes bytes) {
    if constexpr (kHalf) {
      m = {};
      std::memcpy(reinterpret_cast<char*>(&m) + (line & kLine) / 8, &bytes, sizeof bytes);
    } else {
      cache::put(m, bytes);
    }
  }
  static bool any(Bytes bytes) {
    if constexpr (kHalf) {
      return bytes != 0;
    } else {
#if defined(LANEWISE_WIDE)
      if constexpr (kWide) return some_wide(std::bit_cast<__m128i>(bytes));
#endif
      return not_zero(bytes) != 0;
    }
  }
  /// Sectors with a byte among these.
  static unsigned count(Bytes bytes) {
    if constexpr (kOneSector) {
      return any(bytes) ? 1 : 0;
    } else {
      constexpr uint64_t kBitsOf = 0x4332'3221'3221'2110;  // of each number below 16
      return static_cast<unsigned>(kBitsOf >> 4 * not_zero(bytes)) & 15;
    }
  }
  /// The same of a request, which has some.
  static unsigned asked(Bytes bytes) {
    return kOneSector ? 1 : count(bytes);
  }
  /// All bytes of these sectors.
  static Bytes whole(Bytes bytes) {
    if constexpr (kOneSector) {
      const Bytes all = ~Bytes{};
      return any(bytes) ? all : Bytes{};
    } else {
      return Sectors(bytes != 0);
    }
  }
  static Bytes line() {
    return ~Bytes{};
  }
  static unsigned count_bytes(const Mask& m) {
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) return bytes_wide(m);
#endif
    return m.count();
  }
};

}  // namespace lanewise::cache
