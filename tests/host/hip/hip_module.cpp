// A code object that the program loads itself, its kernels with arguments one by one and as a
// block, its variables.
#include "check.hpp"
#include "module.hpp"  // build.sh makes it of module.hip: module_bundle

struct Mixed {
  char letter;
  double number;
  short small;
};

int main() {
  CHECK(hipInit(0));
  hipModule_t module;
  hipFunction_t mixed, scale;
  CHECK(hipModuleLoadData(&module, module_bundle));
  CHECK(hipModuleGetFunction(&mixed, module, "mixed"));
  CHECK(hipModuleGetFunction(&scale, module, "scale"));
  EXPECT(hipModuleGetFunction(&scale, module, "no_such") == hipErrorNotFound);
  CHECK(hipModuleGetFunction(&scale, module, "scale"));
  long long *out, result[4];
  CHECK(hipMalloc(&out, 256));
  struct {
    Mixed m;
    char c;
    long long* out;
  } block = {{'a', -7.0, -300}, 'z', out};
  size_t bytes = sizeof block;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost));
  EXPECT(result[0] == 'a' && result[1] == -7 && result[2] == -300 && result[3] == 'z');
  hipDeviceptr_t variable;
  CHECK(hipModuleGetGlobal(&variable, &bytes, module, "offset"));
  EXPECT(bytes == 4);
  int offset = 50, n = 64, by = 2, data[64];
  CHECK(hipMemcpyHtoD(variable, &offset, 4));
  CHECK(hipMemsetD32(out, 1, 64));
  void* arguments[] = {&out, &n, &by};
  CHECK(hipModuleLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(hipMemcpy(data, out, sizeof data, hipMemcpyDeviceToHost));
  for (const int value : data) EXPECT(value == 52);
  CHECK(hipModuleUnload(module));
  std::puts("hip_module: ok");
}
