// Machine code for sm_52; variables of a module; the same kernels of two modules at once;
// occupancy.
#include "check.hpp"

int main() {
  make_context();
  CUmodule code, text;
  CHECK(cuModuleLoadData(&code, kernels_cubin));
  CHECK(cuModuleLoadData(&text, kernels_ptx));
  CUdeviceptr variable, other, data;
  size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&variable, &bytes, code, "offset"));
  CHECK(cuModuleGetGlobal(&other, nullptr, text, "offset"));
  EXPECT(bytes == 4 && variable != other);
  CHECK(cuMemsetD32(variable, 1000, 1));
  CHECK(cuMemAlloc(&data, 256));
  CHECK(cuMemsetD32(data, 1, 64));
  int n = 64, by = 3, value = -1, blocks = 0, out[64];
  void* arguments[] = {&data, &n, &by};
  for (CUmodule module : {code, text}) {
    CUfunction scale, reverse;
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    CHECK(cuModuleGetFunction(&reverse, module, "reverse"));
    launch(scale, n, arguments);
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, reverse));
    EXPECT(value == 0);
    CHECK(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 40 << 10));
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 64, 20 << 10));
    EXPECT(blocks >= 1 && blocks <= 4);
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 64, 1 << 20));
    EXPECT(blocks == 0);
  }
  CHECK(cuMemcpyDtoH(out, data, sizeof out));
  for (const int v : out) EXPECT(v == (1 * 3 + 1000) * 3 + 5);
  CHECK(cuModuleUnload(code));
  CHECK(cuMemsetD32(other, 6, 1));
  std::puts("drv_cubin: ok");
}
