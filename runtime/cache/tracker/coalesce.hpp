// From the lanes of a wave to requests: one per line for the tracker, and the number of requests
// that the hardware would form.
#pragma once

#include "runtime/cache/engine/sets/mask.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::cache {

struct Request {
  uint64_t block = 0;
  Mask mask;
};

/// Lines touched by one wave, in the order of the first lane that touches them.
struct Requests {
  unsigned count = 0;
  std::array<Request, 64 * 9> at;  ///< 64 lanes, up to 64 bytes each over 16-byte lines
};

/// Lines of `line` bytes (64 or 128; smaller lines coalesce by 64) that the lanes touch.
void coalesce(const trace::Lanes& lanes, unsigned bytes, unsigned line, Requests& out);

/// NVIDIA: `request_lanes` neighbouring lanes share a request for accesses of up to 4 bytes; when
/// that is fewer than 32, wider accesses share proportionally fewer (Maxwell and Pascal: 8, 4, 2).
unsigned nvidia_requests(uint64_t lane_mask, unsigned bytes, unsigned request_lanes);

/// GCN: raw buffers (stride 0) coalesce over contiguous offsets. Otherwise lanes coalesce over
/// contiguous indices when the stride is at most 1 or swizzling is on, all offsets are equal and
/// the element size is that of the instruction; swizzled ones never across INDEX_STRIDE. A request
/// never leaves a cache line. Flat accesses coalesce over contiguous addresses.
unsigned gcn_requests(const trace::Lanes& lanes, const trace::WaveRecord& record,
                      const trace::BufferShape& shape, unsigned bytes, unsigned line);

/// Where the dword `offset` of a lane's local memory lies: the lanes of a wave interleave, so that
/// equal offsets of 32 lanes share a 128-byte line.
inline constexpr uint64_t kLocalBase = uint64_t{1} << 60;  ///< above every guest address
uint64_t local_address(uint64_t wave, uint64_t wave_bytes, unsigned wave_lanes, unsigned lane,
                       uint64_t offset);

}  // namespace lanewise::cache
