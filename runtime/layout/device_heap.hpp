// The heap that kernels allocate from (malloc and free of CUDA's device code): one buffer of the
// device, of which each module that uses it has the address in a variable.
//
//   at 0    bytes of the heap          at 8    offset of what was never given out
//   at 16   blocks that are in use     at 24   bytes of these, as asked for
//   at 32   whether memory was asked for that there was not: the next launch joins what is free
//   at 48   kHeapClasses free lists: a counter of changes above 40 bits of a block's number
//   behind them, blocks: 16 bytes of header, then their memory, a multiple of 16
// A block's number is its header's offset by 16. Its header: the state, its class (4 bytes each),
// and the bytes that were asked for, or, of a free one, the number of the next in its list. A
// filler is a header alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::guest {

/// The variable that has its address.
inline constexpr std::string_view kHeapVariable = "lanewise_device_heap";
inline constexpr uint64_t kHeapBytes = 8 << 20;  ///< of CUDA's documents: the default
inline constexpr uint32_t kHeapClasses = 156;
inline constexpr uint64_t kHeapEnd = 8, kHeapFailed = 32, kHeapLists = 48;
inline constexpr uint64_t kHeapHeader = kHeapLists + 8 * kHeapClasses;
static_assert(kHeapHeader % 16 == 0);
inline constexpr uint32_t kHeapInUse = 0xa110c8ed, kHeapFree = 0xf4eeb10c, kHeapFiller = 0xf111f111;
inline constexpr uint64_t kHeapBlockHeader = 16;

/// Bytes of the blocks of a class: multiples of 16 up to 512, then four to each power of two.
constexpr uint64_t heap_block_bytes(uint32_t heap_class) {
  if (heap_class < 32) return 16 * (uint64_t{heap_class} + 1);
  return uint64_t{(heap_class - 32) % 4 + 5} << ((heap_class - 32) / 4 + 7);
}
static_assert(heap_block_bytes(31) == 512 && heap_block_bytes(32) == 640 &&
              heap_block_bytes(35) == 1024 && heap_block_bytes(36) == 1280);

}  // namespace lanewise::guest
