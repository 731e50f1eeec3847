// One program of three files: each is compiled by `nvcc -rdc=true` and none of them runs alone.
#include "shared.h"

static __device__ int step(int x) { return x * 2 + counts[0]; }

// out[i] = weight(i) + step(i) + scaled(i) + picked(i)
extern "C" __global__ void program(int n, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = weight(i) + step(i) + scaled(i) + picked(i) + factors[i % 4];
  atomicAdd(&counts[1], 1);
}
