// The guest address space. One map for every device, so that addresses are deterministic.
//
//   0x00000000 .. 0x0000ffff   null page, never mapped
//   0x01000000 .. 0x01ffffff   shared-memory window (generic address = window + offset)
//   0x02000000 .. 0x02ffffff   local-memory window (per lane)
//   0x03000000 .. 0x03ffffff   code window: address of function i = base + 16 * i, not readable
//   0x10000000 ..              arena: buffers, module variables; behind all that ever were, the
//                              parameters of the launches under way, which may only be read
//   2^46 ..                    imported memory: buffers of another Vulkan program, of the
//   host
//
// The arena starts low so that 32-bit (non-.E) Maxwell addresses reach its first 3.75 GiB.
#pragma once

#include <cstdint>

namespace lanewise::guest {

inline constexpr uint64_t kNullPageEnd = 0x1'0000;
inline constexpr uint64_t kSharedWindow = 0x0100'0000;
inline constexpr uint64_t kLocalWindow = 0x0200'0000;
inline constexpr uint64_t kCodeWindow = 0x0300'0000;
inline constexpr uint64_t kWindowSize = 0x0100'0000;
inline constexpr uint64_t kArenaBase = 0x1000'0000;
inline constexpr uint64_t kImportedBase = uint64_t{1} << 46;
inline constexpr uint64_t kAllocAlign = 256;
inline constexpr uint64_t kMaxAllocation = uint64_t{1} << 40;

constexpr uint64_t function_address(uint32_t index) {
  return kCodeWindow + 16ULL * index;
}

}  // namespace lanewise::guest
