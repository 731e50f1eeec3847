#include "runtime/cache/engine/sets/wide_sets.hpp"

#include <algorithm>

namespace lanewise::cache {

void WideSets::assign(uint32_t sets, uint32_t stride, uint32_t ways) {
  lines_ = sets * stride;
  stride_ = stride;
  words_ = (ways + 63) / 64;
  const auto bits = static_cast<unsigned>(std::bit_width(2 * sets * ways - 1));
  hash_shift_ = 32 - bits;
  mask_ = (1U << bits) - 1;
  slots_.assign(size_t{mask_} + 1, Slot{});
  links_.assign(size_t{lines_} + sets, Links{});
  sets_.assign(sets, Set{ways, 0});
  empty_.assign(size_t{sets} * words_, ~uint64_t{0});
  for (uint32_t set = 0; set < sets; ++set) {
    if (ways % 64 != 0) empty_[(set + 1) * words_ - 1] = (uint64_t{1} << ways % 64) - 1;
    links_[lines_ + set] = {lines_ + set, lines_ + set};
  }
}

void WideSets::remove(uint32_t line, uint32_t tag) {
  const uint32_t set = line / stride_, way = line % stride_;
  empty_[set * words_ + way / 64] |= uint64_t{1} << way % 64;
  ++sets_[set].empty;
  take(line, hash_of(tag));
  unlink(line);
}

size_t WideSets::memory_bytes() const {
  return slots_.capacity() * sizeof(Slot) + links_.capacity() * sizeof(Links) +
         sets_.capacity() * sizeof(Set) + empty_.capacity() * sizeof(uint64_t);
}

}  // namespace lanewise::cache
