// Contexts: a stack of them in each thread, and the primary one, which is the runtime's.
#include <cuda_runtime.h>

#include <thread>

#include "check.hpp"

__global__ void twice(int* data) { data[threadIdx.x] *= 2; }

int main() {
  CHECK(cuInit(0));
  CUcontext current = nullptr, primary = nullptr, first = make_context(), second = make_context(), popped = nullptr;
  CHECK(cuCtxGetCurrent(&current));
  EXPECT(current == second);
  std::thread([&] {  // another thread has none
    CUcontext none = first;
    CHECK(cuCtxGetCurrent(&none));
    EXPECT(none == nullptr);
    CUdeviceptr memory;
    EXPECT(cuMemAlloc(&memory, 4) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuMemAlloc(&memory, 4));
  }).join();
  CHECK(cuCtxPopCurrent(&popped));
  EXPECT(popped == second);
  CHECK(cuCtxPopCurrent(&popped));
  EXPECT(popped == first && cuCtxPopCurrent(&popped) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxDestroy(second));
  EXPECT(cuCtxSetCurrent(second) == CUDA_ERROR_INVALID_CONTEXT);
  unsigned flags = 9;
  int active = -1;
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active == 0);

  // The runtime's memory and kernels in the driver's calls, and the reverse.
  int *data = nullptr, host[32];
  EXPECT(cudaMalloc(&data, sizeof host) == cudaSuccess);
  CHECK(cuCtxGetCurrent(&current));
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(current == primary);
  CHECK(cuMemsetD32(reinterpret_cast<CUdeviceptr>(data), 21, 32));
  twice<<<1, 32>>>(data);
  CUmodule module;
  CUfunction scale;
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  int n = 32, by = 10;
  void* arguments[] = {&data, &n, &by};
  CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (const int value : host) EXPECT(value == 425);
  CUdeviceptr own = 0;
  CHECK(cuMemAlloc(&own, 64));
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, reinterpret_cast<void*>(own)) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice);
  EXPECT(cudaFree(reinterpret_cast<void*>(own)) == cudaSuccess);
  // A call of the driver's that fails leaves the runtime's last error alone.
  EXPECT(cuMemFree(own) == CUDA_ERROR_INVALID_VALUE && cudaGetLastError() == cudaSuccess);
  CHECK(cuCtxDestroy(first));
  CHECK(cuDevicePrimaryCtxRelease(0));
  std::puts("drv_contexts: ok");
}
