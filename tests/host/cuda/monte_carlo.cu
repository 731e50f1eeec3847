// Random walks with a generator of each thread's own, blocks that count themselves done, and the last that sums.
#include "check.h"
const int blocks = 12, threads = 96, walks = 20;
__device__ unsigned finished;
__device__ unsigned counts[blocks];
struct Generator {
  unsigned x, y, z, w;
  __host__ __device__ explicit Generator(unsigned seed) : x(seed * 69069 + 1), y(x ^ 362436069), z(y * 69069 + 5), w(z ^ 88675123) {}
  __host__ __device__ unsigned operator()() {
    const unsigned t = x ^ (x << 11);
    x = y, y = z, z = w;
    return w = w ^ (w >> 19) ^ t ^ (t >> 8);
  }
};
__host__ __device__ unsigned inside(unsigned thread) {
  Generator next(thread);
  unsigned hits = 0;
  for (int i = 0; i < walks; ++i) {
    const unsigned long long x = next() >> 4, y = next() >> 4;
    hits += x * x + y * y < 1ull << 56;
  }
  return hits;
}
__global__ void estimate(unsigned* all) {
  __shared__ bool last;
  const unsigned hits = inside(blockIdx.x * blockDim.x + threadIdx.x);
  const int any = __syncthreads_or(hits != 0);
  if (any) atomicAdd(&counts[blockIdx.x], hits);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  unsigned sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += static_cast<volatile unsigned*>(counts)[b];
  *all = sum;
}
int main() {
  unsigned *all, found = 0, wanted = 0;
  MUST(cudaMalloc(&all, sizeof(unsigned)));
  for (int i = 0; i < blocks * threads; ++i) wanted += inside(i);
  for (int times = 0; times < 3; ++times) {
    const unsigned none[blocks] = {};
    MUST(cudaMemcpyToSymbol(counts, none, sizeof none));
    estimate<<<blocks, threads>>>(all);
    MUST(cudaMemcpy(&found, all, sizeof found, cudaMemcpyDeviceToHost));
    expect("points inside", found, wanted);
  }
  unsigned left = 1;
  MUST(cudaMemcpyFromSymbol(&left, finished, sizeof left));
  expect("blocks counted", left, 0);
  return done("monte_carlo");
}
