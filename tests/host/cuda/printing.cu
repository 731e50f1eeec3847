// printf of kernels comes out at synchronisation, in order; a failed assertion ends the context.
#include <cassert>

#include "check.h"
__global__ void greet(int launch) { printf("launch %d thread %d %s %.2f\n", launch, threadIdx.x, "text", threadIdx.x * 0.25); }
__global__ void asserts(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }
int main() {
  greet<<<1, 2>>>(1);
  greet<<<1, 1>>>(2);
  MUST(cudaDeviceSynchronize());
  std::printf("host\n");
  greet<<<1, 1>>>(3);
  MUST(cudaStreamSynchronize(0));
  asserts<<<1, 8>>>(8);
  MUST(cudaDeviceSynchronize());
  asserts<<<1, 8>>>(5);
  expect("launch", static_cast<int>(cudaGetLastError()), 0);
  expect("assert", static_cast<int>(cudaDeviceSynchronize()), static_cast<int>(cudaErrorAssert));
  expect("it stays", static_cast<int>(cudaDeviceSynchronize()), static_cast<int>(cudaErrorAssert));
  int* p;
  expect("allocation", static_cast<int>(cudaMalloc(&p, 4)), static_cast<int>(cudaErrorAssert));
  return done("printing");
}
