// What the driver of a GCN device lays down for a dispatch: the block behind the parameters that
// Program::needs asks for, hidden kernel arguments, and scratch memory.
//
//   +0    the dispatch packet (64 bytes): work-group and grid sizes, memory sizes, kernarg address
//   +64   the queue: at +64 and +68 in it the high words of the LDS and private apertures
//   +192  the scratch descriptor: swizzled, lanes interleaved dword by dword
//   +208  flat scratch: offset of the first wave's scratch from the base (0), bytes per lane
//   +216  the dispatch's number in its queue (0)
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::guest {

inline constexpr uint32_t kPacketAt = 0, kQueueAt = 64, kScratchAt = 192, kFlatScratchAt = 208,
                          kDispatchIdAt = 216, kLaunchBlockBytes = 256, kLaunchBlockAlign = 64;
/// Lanes of a wave lie side by side: SWIZZLE_ENABLE, ELEMENT_SIZE 4, INDEX_STRIDE 64,
/// ADD_TID_ENABLE. NUM_RECORDS does not bound it, as on the hardware. The DATA_FORMAT that SI and
/// CI have here would be a stride on VI, so none is set. Word 1 ends with the address, of 47 bits.
inline constexpr uint32_t kScratchWord1 = 0x8000'0000, kScratchAddressHigh = 0x7fff,
                          kScratchRecords = 0xffff'ffff, kScratchWord3 = 0x00e8'0000;
/// Flat addresses with these upper halves mean LDS and scratch.
inline constexpr uint32_t kSharedApertureHigh = 0x1000'0000, kPrivateApertureHigh = 0x2000'0000;

/// Kinds among Program::needs.hidden that are no argument: Mesa's values behind the arguments, if
/// they fit; groups are launched as whole waves in one dimension, and the kernel
/// finds its lanes' places by the dispatch packet.
inline constexpr std::string_view kMesaValues = "mesa_launch_values", kWholeWaves = "whole_waves";
/// An argument that is a place in the shared memory that a launch adds. Launches count from where
/// that begins, kernels from the beginning of the group's memory, where their own lies.
inline constexpr std::string_view kDynamicShared = "dynamic_shared_pointer";

/// Scratch of one wave, in the steps the hardware hands it out.
constexpr uint64_t scratch_per_wave(uint32_t bytes_per_lane, uint32_t lanes) {
  constexpr uint64_t kStep = 1024;
  return (uint64_t{bytes_per_lane} * lanes + kStep - 1) / kStep * kStep;
}

}  // namespace lanewise::guest
