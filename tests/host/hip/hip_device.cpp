// The device that a program sees: a card of GCN3, with consistent figures.
#include "check.hpp"

__global__ void wave(int* out) {
  out[threadIdx.x] = static_cast<int>(warpSize);
}

int main() {
  int count = 0, value = 0, version = 0, out[64];
  hipDeviceProp_t p;
  CHECK(hipInit(0));
  CHECK(hipGetDeviceCount(&count));
  EXPECT(count >= 1);
  CHECK(hipGetDeviceProperties(&p, 0));
  EXPECT(p.warpSize == 64 && p.maxThreadsPerBlock == 1024 && p.major == 8 &&
         p.sharedMemPerBlock == 65536);
  EXPECT(std::strcmp(p.gcnArchName, "gfx803") == 0 && p.gcnArch == 803 && p.arch.hasDoubles &&
         p.arch.has3dGrid);
  EXPECT(p.arch.hasWarpShuffle && p.arch.hasGlobalInt32Atomics && !p.arch.hasSurfaceFuncs);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  EXPECT(value == p.warpSize);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(value == p.multiProcessorCount);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  EXPECT(value == 65536);
  CHECK(hipRuntimeGetVersion(&version));
  EXPECT(version >= 50200000);
  size_t free = 0, total = 0;
  CHECK(hipMemGetInfo(&free, &total));
  EXPECT(free <= total && free > 0);
  int* data;
  CHECK(hipMalloc(&data, sizeof out));
  wave<<<1, 64>>>(data);
  CHECK(hipMemcpy(out, data, sizeof out, hipMemcpyDeviceToHost));
  for (const int lanes : out) EXPECT(lanes == 64);
  std::puts("hip_device: ok");
}
