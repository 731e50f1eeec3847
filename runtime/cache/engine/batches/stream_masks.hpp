// Bytes of a block and the sectors they touch, for sectors of one size that is known when this is
// compiled, with the same few steps for any bytes.
#pragma once

#include "runtime/cache/engine/sets/vector.hpp"

namespace lanewise::cache {

template <bool kWide, unsigned kLine, unsigned kSector>
struct StreamMasks {
  static_assert(kSector == 32 || kSector == kLine);

  static bool any(Sectors bytes) {
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) return some_wide(std::bit_cast<__m128i>(bytes));
#endif
    return not_zero(bytes) != 0;
  }
  /// Sectors with a byte among these, which are of one line.
  static unsigned count(Sectors bytes) {
    if constexpr (kSector == 32) {
      constexpr uint64_t kBitsOf = 0x4332'3221'3221'2110;  // of each number below 16
      return static_cast<unsigned>(kBitsOf >> 4 * not_zero(bytes)) & 15;
    } else {
      return any(bytes) ? 1 : 0;
    }
  }
  /// All bytes of these sectors.
  static Sectors whole(Sectors bytes) {
    if constexpr (kSector == 32) {
      return Sectors(bytes != 0);
    } else if constexpr (kSector == 64) {
      using Halves = uint64_t __attribute__((vector_size(16)));
      return std::bit_cast<Sectors>(std::bit_cast<Halves>(bytes) != 0);
    } else {
      const uint32_t all = any(bytes) ? ~uint32_t{0} : 0;
      return Sectors{all, all, all, all};
    }
  }
  static Sectors line(uint64_t address) {
    if (kLine >= kBlockBytes) return ~Sectors{};
    return address % kBlockBytes == 0 ? Sectors{~0U, ~0U, 0, 0} : Sectors{0, 0, ~0U, ~0U};
  }
  static unsigned count_bytes(const Mask& m) {
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) return bytes_wide(m);
#endif
    return m.count();
  }
};

}  // namespace lanewise::cache
