// Which pages of the arena are absent, for loads that ask (Maxwell's sparse LDG): one bit per page,
// set where it is absent. Programs read the words from a variable of theirs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {

inline constexpr unsigned kSparsePageBits = 16;  ///< 64 KiB, the big page of Maxwell's MMU
inline constexpr uint64_t kSparsePage = uint64_t{1} << kSparsePageBits;
/// The map covers the first 4 GiB of the arena; what lies behind is always resident.
inline constexpr uint64_t kSparsePages = uint64_t{1} << (32 - kSparsePageBits);

class ResidencyMap {
 public:
  /// `address` is the start of a page. False when the pages reach behind the map.
  bool set(uint64_t address, uint64_t pages, bool resident) {
    const uint64_t first = (address - kArenaBase) / kSparsePage;
    if (first > kSparsePages || pages > kSparsePages - first) return false;
    for (uint64_t n = first; n < first + pages; ++n) {
      const uint32_t bit = uint32_t{1} << n % 32;
      words_[n / 32] = resident ? words_[n / 32] & ~bit : words_[n / 32] | bit;
    }
    ++generation_;
    return true;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }
  uint64_t generation() const { return generation_; }  ///< 0 = nothing was ever absent

 private:
  std::array<uint32_t, kSparsePages / 32> words_{};
  uint64_t generation_ = 0;
};

}  // namespace lanewise::guest
