// Packing of lane addresses into wave records and back.
#pragma once

#include <bit>
#include <span>

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

inline constexpr unsigned kMaxLanes = 64;

/// Addresses of the active lanes, in lane order (holes of the mask are skipped).
struct Lanes {
  unsigned count = 0;
  std::array<uint64_t, kMaxLanes> address;
};

inline unsigned active_lanes(const WaveRecord& r) {
  return static_cast<unsigned>(std::popcount(r.mask));
}

/// Chooses the shortest form: affine when all steps are equal, 64-bit deltas otherwise.
void pack(WaveRecord& record, std::span<const uint64_t> addresses);
/// Throws Error(usage) when the record holds fewer deltas than its mask needs.
void unpack(const WaveRecord& record, Lanes& lanes);

}  // namespace lanewise::trace
