// The least that a program of the driver API calls: devices, a context, a module of PTX, memory, a
// launch.
#include "check.hpp"

int main() {
  int count = 0, major = 0, minor = 0, threads = 0;
  char name[128];
  size_t bytes = 0;
  EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  CUcontext context = make_context();
  CUdevice device = 0;
  CHECK(cuDeviceGetCount(&count));
  CHECK(cuCtxGetDevice(&device));
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CHECK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  CHECK(cuDeviceTotalMem(&bytes, device));
  EXPECT(count >= 1 && major >= 5 && minor >= 0 && threads == 1024 && bytes > 1 << 20 && *name);
  EXPECT(cuDeviceGet(&device, count) == CUDA_ERROR_INVALID_DEVICE);

  CUmodule module;
  CUfunction add;
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&add, module, "add"));
  const int n = 1000;
  std::vector<float> a(n, 1.5f), b(n), out(n);
  for (int i = 0; i < n; ++i) b[i] = static_cast<float>(i);
  CUdeviceptr da, db, dout;
  CHECK(cuMemAlloc(&da, n * sizeof(float)));
  CHECK(cuMemAlloc(&db, n * sizeof(float)));
  CHECK(cuMemAlloc(&dout, n * sizeof(float)));
  CHECK(cuMemcpyHtoD(da, a.data(), n * sizeof(float)));
  CHECK(cuMemcpyHtoD(db, b.data(), n * sizeof(float)));
  int size = n;
  void* arguments[] = {&da, &db, &dout, &size};
  launch(add, n, arguments);
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(out.data(), dout, n * sizeof(float)));
  for (int i = 0; i < n; ++i) EXPECT(out[i] == 1.5f + static_cast<float>(i));
  size_t free = 0, total = 0;
  CHECK(cuMemGetInfo(&free, &total));
  EXPECT(free <= total - 3 * n * sizeof(float));
  CHECK(cuMemFree(da));
  EXPECT(cuMemFree(da) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleUnload(module));
  EXPECT(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuCtxDestroy(context));  // with the rest of its memory
  std::puts("drv_vector_add: ok");
}
