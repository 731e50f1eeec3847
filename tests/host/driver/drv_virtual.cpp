// Reserved addresses that memory is mapped to: an array that grows in place, and memory that moves
// to other addresses.
#include "check.hpp"

int main() {
  make_context();
  int supported = 0;
  CHECK(
      cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT(supported == 1);
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t granularity = 0;
  CHECK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(granularity != 0 && (granularity & (granularity - 1)) == 0);
  CUdeviceptr base = 0, elsewhere = 0;
  CHECK(cuMemAddressReserve(&base, 4 * granularity, 0, 0, 0));
  CHECK(cuMemAddressReserve(&elsewhere, granularity, 0, 0, 0));
  EXPECT(base % granularity == 0 &&
         (elsewhere >= base + 4 * granularity || elsewhere + granularity <= base));
  CUmemGenericAllocationHandle first, second;
  CHECK(cuMemCreate(&first, granularity, &properties, 0));
  CHECK(cuMemCreate(&second, granularity, &properties, 0));
  EXPECT(cuMemCreate(&second, granularity + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemsetD8(base, 1, 4) == CUDA_ERROR_INVALID_VALUE);  // nothing is there
  CHECK(cuMemMap(base, granularity, 0, first, 0));
  CUmemAccessDesc access{};
  access.location = properties.location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CHECK(cuMemSetAccess(base, granularity, &access, 1));
  EXPECT(cuMemMap(base, granularity, 0, second, 0) != CUDA_SUCCESS);  // taken

  CUmodule module;
  CUfunction scale;
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  const int per = static_cast<int>(granularity / 4);
  CHECK(cuMemsetD32(base, 1, per));
  // It grows, and a kernel walks over both.
  CHECK(cuMemMap(base + granularity, granularity, 0, second, 0));
  CHECK(cuMemSetAccess(base, 2 * granularity, &access, 1));
  CHECK(cuMemsetD32(base + granularity, 2, per));
  CUdeviceptr seam = base + granularity - 128;
  int n = 64, by = 10, out[64];
  void* arguments[] = {&seam, &n, &by};
  launch(scale, n, arguments);
  CHECK(cuMemcpyDtoH(out, seam, sizeof out));
  EXPECT(out[0] == 15 && out[31] == 15 && out[32] == 25 && out[63] == 25);

  // The second one moves; what it holds comes with it.
  CHECK(cuMemUnmap(base + granularity, granularity));
  EXPECT(cuMemcpyDtoH(out, seam, sizeof out) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(elsewhere, granularity, 0, second, 0));
  CHECK(cuMemSetAccess(elsewhere, granularity, &access, 1));
  CHECK(cuMemcpyDtoH(out, elsewhere, sizeof out));
  EXPECT(out[0] == 25 && out[31] == 25 && out[32] == 2);
  unsigned long long flags = 0;
  CHECK(cuMemGetAccess(&flags, &properties.location, elsewhere));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUmemGenericAllocationHandle same;
  CHECK(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(elsewhere)));
  EXPECT(same == second);
  CHECK(cuMemRelease(same));
  CHECK(cuMemRelease(second));  // it lives as long as it is mapped
  CHECK(cuMemcpyDtoH(out, elsewhere, 4));
  EXPECT(out[0] == 25);
  CHECK(cuMemUnmap(elsewhere, granularity));
  CHECK(cuMemUnmap(base, granularity));
  CHECK(cuMemRelease(first));
  CHECK(cuMemAddressFree(base, 4 * granularity));
  CHECK(cuMemAddressFree(elsewhere, granularity));
  std::puts("drv_virtual: ok");
}
