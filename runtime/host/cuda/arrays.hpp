// Pitched memory and CUDA arrays, which are memory with a pitch of ours.
#pragma once

#include "runtime/host/cuda/copy.hpp"

namespace lanewise::cuda {

struct ChannelFormat {
  int x, y, z, w, kind;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  size_t pitch, width, height;
};

/// cudaArray_t
struct Array {
  ChannelFormat format{};
  Extent extent{};  ///< elements; 0 for dimensions that there are not
  unsigned flags = 0;
  MemoryPtr memory;
  size_t element = 0, pitch = 0;  ///< bytes
  size_t offset = 0;              ///< of a level of a mipmapped array, in its memory

  size_t rows() const { return std::max<size_t>(extent.height, 1); }
  size_t layers() const { return std::max<size_t>(extent.depth, 1); }
  /// From the byte x of a row on.
  Region at(size_t x, size_t y, size_t z) const;
};

inline constexpr size_t kPitch = 512;
inline size_t pitch_of(size_t bytes) {
  return (std::max<size_t>(bytes, 1) + kPitch - 1) / kPitch * kPitch;
}

}  // namespace lanewise::cuda
