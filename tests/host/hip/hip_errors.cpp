// Errors of calls, of launches and of kernels.
#include "check.hpp"

__global__ void outside(int* data, int at) {
  data[at] = 1;
}

int main() {
  int* data = nullptr;
  EXPECT(hipMalloc(nullptr, 4) == hipErrorInvalidValue);
  EXPECT(hipGetLastError() == hipErrorInvalidValue && hipGetLastError() == hipSuccess);
  EXPECT(hipSetDevice(99) == hipErrorInvalidDevice);
  EXPECT(hipFree(&data) == hipErrorInvalidValue);
  EXPECT(std::strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0);
  EXPECT(std::strcmp(hipGetErrorName(hipErrorIllegalAddress), "hipErrorIllegalAddress") == 0);
  EXPECT(std::strcmp(hipGetErrorString(hipSuccess), "no error") == 0);
  CHECK(hipMalloc(&data, 64));
  (void)hipGetLastError();
  outside<<<1, 2048>>>(data, 0);
  EXPECT(hipGetLastError() == hipErrorInvalidConfiguration);
  outside<<<1, 1>>>(data, 15);
  CHECK(hipDeviceSynchronize());
  outside<<<1, 1>>>(data, 1 << 20);
  EXPECT(hipDeviceSynchronize() == hipErrorIllegalAddress);
  EXPECT(hipMalloc(&data, 64) == hipErrorIllegalAddress);
  CHECK(hipDeviceReset());
  CHECK(hipMalloc(&data, 64));
  outside<<<1, 1>>>(data, 3);
  CHECK(hipDeviceSynchronize());
  std::puts("hip_errors: ok");
}
