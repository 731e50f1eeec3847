// Each element becomes the mean of itself and its two neighbours. Built with -DFIRST_VERSION, it has a mistake.
#include "check.h"

__global__ void blur(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef FIRST_VERSION
  float left = i > 0 ? in[i - 1] : in[i], right = i <= n - 1 ? in[i + 1] : in[i];
#else
  float left = i > 0 ? in[i - 1] : in[i], right = i < n - 1 ? in[i + 1] : in[i];
#endif
  out[i] = (left + in[i] + right) / 3;
}

int main() {
  const int n = 1000;
  std::vector<float> ramp(n), blurred(n);
  for (int i = 0; i < n; ++i) ramp[i] = static_cast<float>(i);
  float *in, *out;
  MUST(cudaMalloc(&in, n * sizeof(float)));
  MUST(cudaMalloc(&out, n * sizeof(float)));
  MUST(cudaMemcpy(in, ramp.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  blur<<<(n + 255) / 256, 256>>>(in, out, n);
  MUST(cudaMemcpy(blurred.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 1; i < n - 1; ++i) expect("a mean inside", blurred[i], ramp[i]);
  expect_near("the first mean", blurred[0], 1.0 / 3, 1e-6);
  expect_near("the last mean", blurred[n - 1], n - 1 - 1.0 / 3, 1e-3);
  return done("blur");
}
