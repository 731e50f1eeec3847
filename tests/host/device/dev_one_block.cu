// grid.sync() where the grid is one block, which any device holds: a bitonic sort, each step of which is a meeting of the grid, that prints
// what it has done after the last one. More blocks than are resident are refused before anything runs.
#include <cooperative_groups.h>

#include "check.h"
namespace cg = cooperative_groups;

__global__ void sort(unsigned* data, unsigned n, unsigned* meetings) {
  cg::grid_group grid = cg::this_grid();
  unsigned met = 0;
  for (unsigned size = 2; size <= n; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      for (unsigned i = static_cast<unsigned>(grid.thread_rank()); i < n; i += static_cast<unsigned>(grid.size())) {
        const unsigned other = i ^ stride;
        if (other <= i) continue;
        const unsigned a = data[i], b = data[other];
        if ((a > b) == ((i & size) == 0)) data[i] = b, data[other] = a;
      }
      grid.sync();
      ++met;
    }
  }
  if (grid.thread_rank() == 0) {
    *meetings = met;
    printf("%u numbers, %u meetings, from %#x to %#x\n", n, met, data[0], data[n - 1]);
  }
}

int main() {
  unsigned n = 256, threads = 64, *data, *meetings, state = 7;
  CHECK(cudaMallocManaged(&data, n * sizeof(*data)));
  CHECK(cudaMallocManaged(&meetings, sizeof(*meetings)));
  unsigned long long before = 0, after = 0;
  for (unsigned i = 0; i < n; ++i) before += data[i] = state = state * 1664525 + 1013904223;
  void* arguments[] = {&data, &n, &meetings};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(sort), dim3(1), dim3(threads), arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  REQUIRE(*meetings == 36);
  for (unsigned i = 0; i < n; ++i) {
    after += data[i];
    REQUIRE(i == 0 || data[i - 1] <= data[i]);
  }
  REQUIRE(before == after);
  REQUIRE(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(sort), dim3(1U << 20), dim3(threads), arguments, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
  REQUIRE(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  std::puts("dev_one_block: ok");
}
