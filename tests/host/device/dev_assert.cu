// A failed assertion is the error of the next call that waits, and stays; its text is on standard error.
#include <cassert>

#include "check.h"

__global__ void checked(const int* data, int limit) {
  assert(data[threadIdx.x] < limit && "too large");
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
