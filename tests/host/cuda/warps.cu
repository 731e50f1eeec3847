// Warps of which a part takes part, threads that wait for a time of the clock.
#include "check.h"

// As reductions of many programs end: what lanes that are not here would add is 0.
__global__ void sum_of_few(int* out, int few) {
  int value = threadIdx.x + 1;
  const unsigned here = __ballot_sync(0xffffffffu, threadIdx.x < few);
  if (threadIdx.x < few) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(here, value, offset);
    if (threadIdx.x == 0) *out = value;
  }
}
__global__ void shuffle_up_in_odd(int* out) {
  if (threadIdx.x % 2 == 1) out[threadIdx.x] = __shfl_up_sync(0xaaaaaaaau, threadIdx.x + 100, threadIdx.x % 4 == 1 ? 1 : 2);
}
__global__ void wait(long long clocks, int* out) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  *out = 1;
}
__global__ void wait_32(unsigned clocks, int* out) {
  const unsigned begin = static_cast<unsigned>(clock());
  while (static_cast<unsigned>(clock()) - begin < clocks) {
  }
  *out = 2;
}

int main() {
  int *found, host[32];
  MUST(cudaMalloc(&found, sizeof host));
  for (int few = 1; few <= 32; few *= 2) {
    sum_of_few<<<1, 32>>>(found, few);
    MUST(cudaMemcpy(host, found, sizeof(int), cudaMemcpyDeviceToHost));
    expect("sum of few lanes", host[0], few * (few + 1) / 2);
  }
  MUST(cudaMemset(found, 0xff, sizeof host));
  shuffle_up_in_odd<<<1, 32>>>(found);
  MUST(cudaMemcpy(host, found, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    expect("shuffle up", host[i], i % 2 == 0 ? -1 : i % 4 == 1 ? 0 : i + 100 - 2);
  // A second at 1.6 GHz.
  wait<<<1, 1>>>(1600000000ll, found);
  wait_32<<<1, 1>>>(1600000000u, found + 1);
  MUST(cudaMemcpy(host, found, sizeof host, cudaMemcpyDeviceToHost));
  expect("waited", host[0], 1);
  expect("waited by 32 bits", host[1], 2);
  return done("warps");
}
