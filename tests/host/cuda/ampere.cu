// Built for compute_80 alone: the program finds a GPU that runs it, and what that adds.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "check.h"
namespace cg = cooperative_groups;

__global__ void sum(const int* in, int* out) {
  __shared__ int part[256];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, part, in + blockIdx.x * 256, sizeof part);
  cg::wait(block);
  const int whole = __reduce_add_sync(0xffffffffu, part[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, whole);
}

int main() {
  cudaDeviceProp properties;
  MUST(cudaGetDeviceProperties(&properties, 0));
  expect("compute capability", properties.major, 8);
  if (properties.major < 8) return done("ampere");
  const int n = 1024;
  std::vector<int> values(n);
  int wanted = 0, found = 0, *in, *out;
  for (int& v : values) wanted += v = random_number() >> 20;
  MUST(cudaMalloc(&in, n * sizeof(int)));
  MUST(cudaMalloc(&out, sizeof(int)));
  MUST(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  MUST(cudaMemset(out, 0, sizeof(int)));
  sum<<<n / 256, 256>>>(in, out);
  MUST(cudaMemcpy(&found, out, sizeof(int), cudaMemcpyDeviceToHost));
  expect("sum", found, wanted);
  return done("ampere");
}
