// Sums through LDS and shuffles of waves of 64 lanes; ballots.
#include "check.hpp"

__global__ void sum(const int* data, int* out, int n) {
  __shared__ int parts[4];
  int value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    value += data[i];
  for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down(value, step);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, parts[0] + parts[1] + parts[2] + parts[3]);
}
__global__ void odd(const int* data, unsigned long long* out) {
  const unsigned long long mask = __ballot(data[threadIdx.x] % 2 != 0);
  if (threadIdx.x % warpSize == 0) out[threadIdx.x / warpSize] = mask;
}

int main() {
  const int n = 5000;
  std::vector<int> host(n);
  int *data, *out, result = 0;
  long long wanted = 0;
  for (int i = 0; i < n; ++i) wanted += host[i] = (i * 37) % 101 - 20;
  CHECK(hipMalloc(&data, n * sizeof(int)));
  CHECK(hipMalloc(&out, sizeof(int)));
  CHECK(hipMemcpy(data, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemset(out, 0, sizeof(int)));
  hipLaunchKernelGGL(sum, dim3(5), dim3(256), 0, nullptr, data, out, n);
  CHECK(hipMemcpy(&result, out, sizeof(int), hipMemcpyDeviceToHost));
  EXPECT(result == wanted);
  unsigned long long *masks, found[2];
  CHECK(hipMalloc(&masks, sizeof found));
  odd<<<1, 128>>>(data, masks);
  CHECK(hipMemcpy(found, masks, sizeof found, hipMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i)
    EXPECT((found[i / 64] >> i % 64 & 1) == static_cast<unsigned>(host[i] % 2 != 0));
  std::puts("hip_reduce: ok");
}
