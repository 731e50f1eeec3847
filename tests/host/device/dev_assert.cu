// A failed assertion is the error of the next call that waits, and stays, though other lanes wait for what then never
// comes; its text is on standard error.
#include <cassert>

#include "check.h"

__global__ void checked(const volatile int* data, int limit) {
  assert(data[threadIdx.x] < limit && "too large");
  while (limit < 32 && data[0] == 0) continue;
}

int main() {
  int *data, host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  CHECK(cudaMalloc(&data, sizeof host));
  CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
  checked<<<1, 32>>>(data, 32);
  CHECK(cudaDeviceSynchronize());
  checked<<<1, 32>>>(data, 30);
  REQUIRE(cudaDeviceSynchronize() == cudaErrorAssert);
  REQUIRE(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorAssert);
  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&data, sizeof host));
  std::puts("dev_assert: ok");
}
