// What the programs of the driver API share.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels.hpp"  // build.sh makes it: kernels_ptx, kernels_fatbin, kernels_cubin

#define CHECK(call) check_that((call) == CUDA_SUCCESS, #call, __LINE__)
#define EXPECT(what) check_that((what), #what, __LINE__)

inline void check_that(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: %s failed\n", line, what);
  std::exit(1);
}

inline CUcontext make_context() {
  CUcontext context = nullptr;
  CUdevice device = 0;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
  CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
  CHECK(cuCtxCreate(&context, 0, device));
#endif
  return context;
}

/// Of the module, on `count` elements.
inline void launch(CUfunction function, int count, void** arguments, CUstream stream = nullptr) {
  const unsigned block = 64;
  CHECK(cuLaunchKernel(function, (static_cast<unsigned>(count) + block - 1) / block, 1, 1, block, 1,
                       1, 0, stream, arguments, nullptr));
}
