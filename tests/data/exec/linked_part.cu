#include <cstdio>

static __device__ int factor = 5;
__device__ int offset = 1000;
__device__ int times(int x);
__device__ int plus_offset(int x) { return x + offset; }

__global__ void part_kernel(int* p) {
  if (threadIdx.x == 0) printf("factor %d\n", factor);
  p[threadIdx.x] = times(threadIdx.x) + factor;
}
