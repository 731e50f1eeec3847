// How far the guest's memory reaches.
#pragma once

#include <algorithm>

#include "runtime/guest/engine.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {

/// Bytes from the arena's start that loads may reach: to the end of the last allocation, memory
/// from elsewhere included.
inline uint64_t extent(const LaunchRequest& request, uint64_t arena) {
  arena = std::min(arena, request.readable);
  if (!request.imported || request.allocations.empty()) return arena;
  const Allocation& last = request.allocations.back();
  return std::max(arena, last.address + last.size - kArenaBase);
}

/// The same of stores.
inline uint64_t writable_extent(const LaunchRequest& request, uint64_t arena) {
  return request.imported ? extent(request, arena)
                          : std::min({arena, request.readable, request.writable});
}

}  // namespace lanewise::guest
