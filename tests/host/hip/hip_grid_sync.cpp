// grid.sync() in a cooperative launch: groups read what others wrote before it, many times over.
// With an argument the kernel is launched as any other, which ends it.
#include "check.hpp"

#include <hip/hip_cooperative_groups.h>

constexpr int kGroups = 7, kX = 25, kY = 6, kCount = kGroups * kX * kY, kRounds = 20;

__global__ void pass_on(int* from, int* to) {
  const auto grid = cooperative_groups::this_grid();
  const int i = (blockIdx.x * kY + threadIdx.y) * kX + threadIdx.x;
  for (int round = 0; round < kRounds; ++round) {
    to[i] = from[(i + 101) % kCount] + (grid.is_valid() ? 1 : 2);
    grid.sync();
    int* const last = from;
    from = to, to = last;
  }
}
__launch_bounds__(128) __global__ void narrow(int* out) {
  out[threadIdx.x] = threadIdx.x;
}

int main(int count, char**) {
  int *memory, host[2 * kCount];
  CHECK(hipMalloc(&memory, sizeof host));
  for (int i = 0; i < kCount; ++i) host[i] = i;
  for (int launch = 0; launch < 2; ++launch) {
    CHECK(hipMemcpy(memory, host, kCount * sizeof(int), hipMemcpyHostToDevice));
    int *from = memory, *to = memory + kCount;
    void* arguments[] = {&from, &to};
    if (count > 1)
      pass_on<<<kGroups, dim3(kX, kY)>>>(from, to);
    else
      CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(pass_on), dim3(kGroups),
                                       dim3(kX, kY), arguments, 0, nullptr));
    CHECK(hipDeviceSynchronize());
    int got[kCount];
    CHECK(hipMemcpy(got, memory, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < kCount; ++i) EXPECT(got[i] == (i + kRounds * 101) % kCount + kRounds);
  }
  // A bound that the kernel declares.
  narrow<<<1, 128>>>(memory);
  CHECK(hipDeviceSynchronize());
  narrow<<<1, 129>>>(memory);
  EXPECT(hipGetLastError() == hipErrorLaunchFailure);
  CHECK(hipDeviceSynchronize());
  narrow<<<1, dim3(1, 1, 128)>>>(memory);
  CHECK(hipDeviceSynchronize());
  hipFuncAttributes attributes;
  CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(narrow)));
  EXPECT(attributes.maxThreadsPerBlock == 128);
  std::printf("hip_grid_sync: ok\n");
}
