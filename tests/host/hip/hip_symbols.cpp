// Variables of the device and constants.
#include "check.hpp"

__device__ int counter = 5;
__constant__ float weights[8];

__global__ void weigh(float* out) {
  atomicAdd(&counter, 1);
  out[threadIdx.x] = weights[threadIdx.x % 8] * static_cast<float>(threadIdx.x);
}

int main() {
  float host[8], *out, result[64];
  for (int i = 0; i < 8; ++i) host[i] = 0.25f * static_cast<float>(i);
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), host, sizeof host));
  CHECK(hipMalloc(&out, sizeof result));
  weigh<<<1, 64>>>(out);
  CHECK(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(result[i] == 0.25f * static_cast<float>(i % 8 * i));
  int count = 0;
  CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
  EXPECT(count == 69);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(counter)));
  CHECK(hipGetSymbolSize(&bytes, HIP_SYMBOL(weights)));
  EXPECT(address != nullptr && bytes == sizeof host);
  std::puts("hip_symbols: ok");
}
