// The CUDA runtime's ABI: what its public headers declare, as far as it crosses a call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanewise::core {
struct Stream;
struct Event;
struct Function;
}  // namespace lanewise::core

namespace lanewise::cuda {

using StreamHandle = core::Stream*;
using EventHandle = core::Event*;

struct Dim {
  unsigned x, y, z;
};

/// cudaMemcpyKind
enum CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4
};

inline constexpr uint32_t kWrapperMagic = 0x466243b1;
/// The wrapper that __cudaRegisterFatBinary gets.
struct FatBinaryWrapper {
  uint32_t magic, version;
  const void* data;
  const void* more;  ///< version 2: the objects that were linked
};

}  // namespace lanewise::cuda
