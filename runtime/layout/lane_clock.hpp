// How fast a lane's clock goes. Kernels that wait for a time of the clock ("for 10 ms at 1.6 GHz")
// would need as many instructions here: each read adds 16 at first, and twice as much after every
// 256 reads of the lane.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanewise::guest {

inline constexpr uint32_t kClockReads = 256, kClockShift = 4, kClockDoublings = 18;

/// What the n-th read of a lane shows, from n = 0 on; never less than what the one before showed.
constexpr uint64_t lane_clock(uint32_t n) {
  const uint32_t doublings = std::min(n / kClockReads, kClockDoublings);
  return uint64_t{kClockReads + n - doublings * kClockReads} << (kClockShift + doublings);
}

}  // namespace lanewise::guest
