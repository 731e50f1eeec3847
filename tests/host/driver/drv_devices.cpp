// Contexts of several devices, each with modules and memory of its own; the current one decides.
#include <cuda.h>

#include "check.hpp"

static CUcontext context_on(CUdevice device) {
  CUcontext made = nullptr;
  CHECK(cuCtxCreate(&made, nullptr, 0, device));
  return made;
}

int main() {
  CHECK(cuInit(0));
  int count = 0;
  CHECK(cuDeviceGetCount(&count));
  EXPECT(count == 2);
  CUdevice none;
  EXPECT(cuDeviceGet(&none, 2) == CUDA_ERROR_INVALID_DEVICE);
  CUcontext contexts[2];
  CUmodule modules[2];
  CUfunction scale[2];
  CUdeviceptr memory[2], offset[2];
  for (int d = 0; d < 2; ++d) {
    contexts[d] = context_on(d);
    CUdevice current = -1;
    CHECK(cuCtxGetDevice(&current));
    EXPECT(current == d);
    CHECK(cuModuleLoadData(&modules[d], kernels_ptx));
    CHECK(cuModuleGetFunction(&scale[d], modules[d], "scale"));
    CHECK(cuModuleGetGlobal(&offset[d], nullptr, modules[d], "offset"));
    CHECK(cuMemAlloc(&memory[d], 64 * sizeof(int)));
    CHECK(cuMemsetD32(memory[d], static_cast<unsigned>(d + 1), 64));
    CHECK(cuMemsetD32(offset[d], static_cast<unsigned>(1000 * d), 1));
  }
  EXPECT(offset[0] != offset[1]);
  int n = 64, by = 3, host[64];
  for (int d = 0; d < 2; ++d) {
    CHECK(cuCtxSetCurrent(contexts[d]));
    void* arguments[] = {&memory[d], &n, &by};
    // A function of the other context is none of this one.
    EXPECT(cuLaunchKernel(scale[1 - d], 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) ==
           CUDA_ERROR_INVALID_HANDLE);
    launch(scale[d], n, arguments);
    CUcontext of = nullptr;
    int ordinal = -1;
    CHECK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory[d]));
    CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[d]));
    EXPECT(of == contexts[d] && ordinal == d);
  }
  for (int d = 0; d < 2; ++d) {
    CHECK(cuMemcpyDtoH(host, memory[d], sizeof host));
    for (const int value : host) EXPECT(value == 3 * (d + 1) + 1000 * d);
  }
  CHECK(cuMemcpyPeer(memory[0], contexts[0], memory[1], contexts[1], sizeof host));
  CHECK(cuMemcpyDtoH(host, memory[0], sizeof host));
  EXPECT(host[9] == 1006);
  EXPECT(cuCtxEnablePeerAccess(contexts[1], 0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxEnablePeerAccess(contexts[0], 0));
  EXPECT(cuCtxEnablePeerAccess(contexts[0], 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  // A library's kernels are every device's.
  CUlibrary library;
  CUkernel kernel;
  CHECK(cuLibraryLoadData(&library, kernels_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
  for (int d = 0; d < 2; ++d) {
    CHECK(cuCtxSetCurrent(contexts[d]));
    CHECK(cuMemsetD32(memory[d], 1, 64));
    void* arguments[] = {&memory[d], &n, &by};
    launch(reinterpret_cast<CUfunction>(kernel), n, arguments);
    CHECK(cuMemcpyDtoH(host, memory[d], sizeof host));
    EXPECT(host[63] == 8);
  }
  // So are its variables, and each has its own.
  for (int d = 0; d < 2; ++d) {
    CUdeviceptr offset;
    const int value = 10 + d;
    CHECK(cuCtxSetCurrent(contexts[d]));
    CHECK(cuLibraryGetGlobal(&offset, nullptr, library, "offset"));
    CHECK(cuMemcpyHtoD(offset, &value, sizeof value));
  }
  for (int d = 0; d < 2; ++d) {
    CHECK(cuCtxSetCurrent(contexts[d]));
    CHECK(cuMemsetD32(memory[d], 1, 64));
    void* arguments[] = {&memory[d], &n, &by};
    launch(reinterpret_cast<CUfunction>(kernel), n, arguments);
    CHECK(cuMemcpyDtoH(host, memory[d], sizeof host));
    EXPECT(host[63] == 13 + d);
  }
  // Its end takes the memory of one context along, and leaves the other one's.
  CHECK(cuCtxDestroy(contexts[1]));
  EXPECT(cuMemcpyDtoH(host, memory[1], 4) != CUDA_SUCCESS);
  CHECK(cuCtxSetCurrent(contexts[0]));
  CHECK(cuMemcpyDtoH(host, memory[0], 4));
  std::printf("drv_devices: ok\n");
  return 0;
}
