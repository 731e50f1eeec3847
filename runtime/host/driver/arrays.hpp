// CUDA arrays as the driver's ABI has them, over those of the runtime.
#pragma once

#include "runtime/host/cuda/arrays.hpp"

namespace lanewise::driver {

/// CUDA_ARRAY_DESCRIPTOR
struct Descriptor2D {
  size_t width, height;
  int format;
  unsigned channels;
};
/// CUDA_ARRAY3D_DESCRIPTOR
struct Descriptor3D {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
/// CUarray_format, and channels of it.
cuda::ChannelFormat channels_of(int format, unsigned channels);
/// Fills format and channels.
void name_channels(const cuda::ChannelFormat& channels, int& format, unsigned& count);

}  // namespace lanewise::driver
