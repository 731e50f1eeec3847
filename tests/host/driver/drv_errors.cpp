// Errors: of programs with a log, of names and handles, and of a kernel, which stay with their
// context.
#include "check.hpp"

int main() {
  CUcontext context = make_context();
  const char *name = nullptr, *text = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
  CHECK(cuGetErrorString(CUDA_ERROR_NO_BINARY_FOR_GPU, &text));
  EXPECT(std::strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0 &&
         std::strcmp(text, "no kernel image is available for execution on the device") == 0);
  EXPECT(cuGetErrorName(static_cast<CUresult>(12345), &name) == CUDA_ERROR_INVALID_VALUE &&
         name == nullptr);

  CUmodule module;
  char log[256] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT(
      cuModuleLoadDataEx(
          &module,
          ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 7; }",
          2, options, values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strstr(log, "%r1") != nullptr &&
         reinterpret_cast<size_t>(values[1]) == std::strlen(log) + 1);
  char small[8] = {};
  void* little[] = {small, reinterpret_cast<void*>(sizeof small)};
  EXPECT(cuModuleLoadDataEx(
             &module,
             ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { what; }", 2,
             options, little) == CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strlen(small) == 7);
  EXPECT(cuModuleLoadData(&module, "neither PTX nor anything else") == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CUfunction outside, scale;
  EXPECT(cuModuleGetFunction(&scale, module, "scales") == CUDA_ERROR_NOT_FOUND);
  CUdeviceptr data;
  EXPECT(cuModuleGetGlobal(&data, nullptr, module, "scales") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuModuleGetFunction(&outside, module, "outside"));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  EXPECT(cuMemAlloc(&data, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemAlloc(&data, size_t{1} << 50) == CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(cuStreamSynchronize(reinterpret_cast<CUstream>(&data)) == CUDA_ERROR_INVALID_HANDLE);

  CHECK(cuMemAlloc(&data, 256));
  void* arguments[] = {&data};
  CHECK(cuLaunchKernel(outside, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuMemAlloc(&data, 256) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuCtxDestroy(context));
  EXPECT(cuMemAlloc(&data, 256) == CUDA_ERROR_INVALID_CONTEXT);
  make_context();
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CHECK(cuMemAlloc(&data, 256));
  CHECK(cuMemsetD32(data, 1, 64));
  int n = 64, by = 1, first = 0;
  void* scaled[] = {&data, &n, &by};
  launch(scale, n, scaled);
  CHECK(cuMemcpyDtoH(&first, data, 4));
  EXPECT(first == 6);
  std::puts("drv_errors: ok");
}
