// The least that a HIP program calls.
#include "check.hpp"

__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  float *a, *b, *out;
  std::vector<float> x(n, 2.5f), y(n), z(n);
  for (int i = 0; i < n; ++i) y[i] = static_cast<float>(i);
  CHECK(hipMalloc(&a, n * sizeof(float)));
  CHECK(hipMalloc(&b, n * sizeof(float)));
  CHECK(hipMalloc(&out, n * sizeof(float)));
  CHECK(hipMemcpy(a, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(b, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(a, b, out, n);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(z.data(), out, n * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(z[i] == 2.5f + static_cast<float>(i));
  CHECK(hipFree(a));
  CHECK(hipFree(b));
  CHECK(hipFree(out));
  std::puts("hip_vector_add: ok");
}
