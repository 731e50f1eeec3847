// A barrier of the program's own between all blocks, and a token that goes around them, in cooperative launches.
#include "check.h"

__device__ unsigned arrived = 0;
__device__ volatile unsigned turn = 0;

__device__ void meet(unsigned blocks, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < blocks * round) {
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void relax(float* a, float* b, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 1; round <= rounds; ++round) {
    if (i > 0 && i < n - 1) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    meet(gridDim.x, round);
    float* other = a;
    a = b, b = other;
  }
}
__global__ void token(int* order) {
  if (threadIdx.x != 0) return;
  const unsigned mine = gridDim.x - 1 - blockIdx.x;  // the last block comes first
  while (turn != mine) {
  }
  order[mine] = static_cast<int>(blockIdx.x);
  __threadfence();
  turn = mine + 1;
}

int main() {
  int n = 256, rounds = 20;
  float *a, *b, x[256], y[256];
  int* order;
  CHECK(cudaMallocManaged(&a, n * sizeof(float)));
  CHECK(cudaMallocManaged(&b, n * sizeof(float)));
  CHECK(cudaMallocManaged(&order, 16 * sizeof(int)));
  for (int i = 0; i < n; ++i) a[i] = b[i] = x[i] = y[i] = i == 0 ? 100.0f : 0.0f;
  void* arguments[] = {&a, &b, &n, &rounds};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(relax), dim3(4), dim3(64), arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  for (int r = 0; r < rounds; ++r) {
    for (int i = 1; i < n - 1; ++i) y[i] = 0.5f * (x[i - 1] + x[i + 1]);
    for (int i = 0; i < n; ++i) x[i] = y[i];
  }
  for (int i = 0; i < n; ++i) REQUIRE(a[i] == x[i]);
  void* passed[] = {&order};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(token), dim3(16), dim3(32), passed, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 16; ++i) REQUIRE(order[i] == 15 - i);
  std::puts("dev_barriers: ok");
}
