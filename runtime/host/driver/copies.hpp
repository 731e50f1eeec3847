// Copies as the driver's ABI has them.
#pragma once

#include "runtime/host/core/operation.hpp"

namespace lanewise::driver {

/// CUmemorytype
enum MemoryType : int { kHost = 1, kDeviceMemory, kArray, kUnified };

/// One side of CUDA_MEMCPY3D, and with a context of CUDA_MEMCPY3D_PEER.
struct Side3D {
  size_t x, y, z, level;
  int type;
  void* host;
  uint64_t device;
  void* array;
  void* context;
  size_t pitch, height;
};
struct Copy3D {
  Side3D from, to;
  size_t width, height, depth;
};
static_assert(sizeof(Copy3D) == 200);

core::Copy copy_of(const Copy3D* copy);

}  // namespace lanewise::driver
