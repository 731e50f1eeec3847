// All blocks of a grid meet between the steps of a prefix sum and of a reduction.
#include <cooperative_groups.h>

#include "check.h"
namespace cg = cooperative_groups;

__global__ void scan(int* a, int* b, int n) {
  cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int step = 1; step < n; step *= 2) {
    if (i < n) b[i] = i >= step ? a[i] + a[i - step] : a[i];
    grid.sync();
    int* other = a;
    a = b, b = other;
  }
}
__global__ void total(const int* data, int n, int* parts, int* sum) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) atomicAdd(&part, data[i]);
  __syncthreads();
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
  grid.sync();
  if (grid.thread_rank() == 0)
    for (unsigned b = 0; b < gridDim.x; ++b) *sum += parts[b];
}

int main() {
  int n = 1024, blocks = 8, threads = 128, supports = 0;
  CHECK(cudaDeviceGetAttribute(&supports, cudaDevAttrCooperativeLaunch, 0));
  REQUIRE(supports == 1);
  int *a, *b, *parts, *sum;
  CHECK(cudaMallocManaged(&a, n * sizeof(int)));
  CHECK(cudaMallocManaged(&b, n * sizeof(int)));
  CHECK(cudaMallocManaged(&parts, blocks * sizeof(int)));
  CHECK(cudaMallocManaged(&sum, sizeof(int)));
  for (int i = 0; i < n; ++i) a[i] = i % 7;
  void* scanned[] = {&a, &b, &n};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(scan), dim3(blocks), dim3(threads), scanned, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  int expected = 0;
  for (int i = 0; i < n; ++i) REQUIRE(a[i] == (expected += i % 7));  // ten steps: back in a
  *sum = 0;
  void* summed[] = {&a, &n, &parts, &sum};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(total), dim3(blocks), dim3(threads), summed, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  long long all = 0;
  for (int i = 0; i < n; ++i) all += a[i];
  REQUIRE(*sum == static_cast<int>(all));
  // As many as the occupancy says fit; one more does not.
  int each = 0, multiprocessors = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, total, threads, 0));
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  REQUIRE(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(total), dim3(each * multiprocessors + 1), dim3(threads),
                                      summed, 0, nullptr) == cudaErrorCooperativeLaunchTooLarge);
  REQUIRE(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  std::puts("dev_grid_sync: ok");
}
