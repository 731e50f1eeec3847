// Arguments as a block, launches with attributes, and the calls of CUDA 3.
#include "check.hpp"

struct Mixed {
  char letter;
  double number;
  short small;
};

int main() {
  make_context();
  CUmodule module;
  CUfunction mixed, scale, reverse;
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&mixed, module, "mixed"));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CHECK(cuModuleGetFunction(&reverse, module, "reverse"));
  CUdeviceptr out;
  CHECK(cuMemAlloc(&out, 256));
  struct {
    Mixed m;
    char c;
    CUdeviceptr out;
  } block = {{'a', -7.0, -300}, 'z', out};
  size_t bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  long long result[5] = {};
  CHECK(cuMemcpyDtoH(result, out, sizeof result));
  EXPECT(result[0] == 'a' && result[1] == -7 && result[2] == -300 && result[3] == 'z' &&
         result[4] == 4);
  bytes = 8;  // less than the kernel takes
  EXPECT(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra) ==
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
#if CUDA_VERSION >= 12040
  size_t offset = 0, size = 0;
  CHECK(cuFuncGetParamInfo(mixed, 1, &offset, &size));
  EXPECT(offset == 24 && size == 1);
  EXPECT(cuFuncGetParamInfo(mixed, 3, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
#endif

  std::vector<int> data(32);
  for (int i = 0; i < 32; ++i) data[i] = i;
  CHECK(cuMemcpyHtoD(out, data.data(), 128));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  CUlaunchConfig configuration{1, 1, 1, 32, 1, 1, 128, nullptr, &attribute, 1};
  int n = 32, by = 2;
  void* arguments[] = {&out, &n};
  CHECK(cuLaunchKernelEx(&configuration, reverse, arguments, nullptr));
  void* scaled[] = {&out, &n, &by};
  launch(scale, n, scaled);
  CHECK(cuMemcpyDtoH(data.data(), out, 128));
  for (int i = 0; i < 32; ++i) EXPECT(data[i] == (31 - i) * 2 + 5);
  // Shapes that no device has, and too much shared memory.
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, nullptr, scaled, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLaunchKernel(scale, 0, 1, 1, 1, 1, 1, 0, nullptr, scaled, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 1 << 20, nullptr, scaled, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
#if CUDA_VERSION < 13000
  CHECK(cuFuncSetBlockShape(scale, 32, 1, 1));
  CHECK(cuParamSetSize(scale, 16));
  CHECK(cuParamSetv(scale, 0, &out, sizeof out));
  CHECK(cuParamSeti(scale, 8, 32));
  CHECK(cuParamSeti(scale, 12, 0));
  CHECK(cuLaunchGrid(scale, 1, 1));
  CHECK(cuMemcpyDtoH(data.data(), out, 128));
  for (const int value : data) EXPECT(value == 5);
#endif
  std::puts("drv_arguments: ok");
}
