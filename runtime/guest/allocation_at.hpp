// Which allocation some bytes lie in.
#pragma once

#include <algorithm>
#include <span>

#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

/// `size` bytes from 0 on hold these.
inline bool inside(uint64_t offset, uint64_t bytes, uint64_t size) {
  return size >= bytes && offset <= size - bytes;
}

/// The allocation that holds all of the bytes, or none; `sorted` by address.
inline const Allocation* allocation_at(std::span<const Allocation> sorted, uint64_t address,
                                       uint64_t bytes) {
  const auto after =
      std::upper_bound(sorted.begin(), sorted.end(), address,
                       [](uint64_t a, const Allocation& x) { return a < x.address; });
  if (after == sorted.begin()) return nullptr;
  const Allocation& candidate = *(after - 1);
  return inside(address - candidate.address, bytes, candidate.size) ? &candidate : nullptr;
}

}  // namespace lanewise::guest
