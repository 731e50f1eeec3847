// Histograms with atomics of LDS and of memory, of 32 and 64 bits; a compare-and-swap loop on
// doubles.
#include "check.hpp"

__global__ void histogram(const unsigned char* data, int n, unsigned* bins,
                          unsigned long long* total, double* sum) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[data[i] & 15], 1u);
    atomicAdd(total, static_cast<unsigned long long>(data[i]) << 30);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(sum, 0.5);
}

int main() {
  const int n = 2000;
  std::vector<unsigned char> host(n);
  unsigned wanted[16] = {}, found[16];
  unsigned long long all = 0, total = 0;
  for (int i = 0; i < n; ++i) {
    host[i] = static_cast<unsigned char>(i * i % 251);
    ++wanted[host[i] & 15];
    all += static_cast<unsigned long long>(host[i]) << 30;
  }
  unsigned char* data;
  unsigned* bins;
  unsigned long long* sum;
  double *half, halves = 0;
  CHECK(hipMalloc(&data, n));
  CHECK(hipMalloc(&bins, sizeof found));
  CHECK(hipMalloc(&sum, sizeof total));
  CHECK(hipMalloc(&half, sizeof halves));
  CHECK(hipMemcpy(data, host.data(), n, hipMemcpyHostToDevice));
  CHECK(hipMemset(bins, 0, sizeof found));
  CHECK(hipMemset(sum, 0, sizeof total));
  CHECK(hipMemset(half, 0, sizeof halves));
  histogram<<<6, 128>>>(data, n, bins, sum, half);
  CHECK(hipMemcpy(found, bins, sizeof found, hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(&total, sum, sizeof total, hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(&halves, half, sizeof halves, hipMemcpyDeviceToHost));
  EXPECT(std::memcmp(found, wanted, sizeof found) == 0 && total == all && halves == 3.0);
  std::puts("hip_atomics: ok");
}
