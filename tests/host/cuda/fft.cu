// Radix 2 in shared memory, forwards and back, against the sum by definition.
#include "check.h"
const int n = 256;
__constant__ float2 roots[n / 2];
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__global__ void fft(float2* data, int back) {
  __shared__ float2 s[n];
  float2* row = data + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev(i) >> 24] = row[i];
  __syncthreads();
  for (int half = 1; half < n; half *= 2) {
    const int t = threadIdx.x, k = t % half, at = t / half * 2 * half + k;
    float2 w = roots[k * (n / 2 / half)];
    if (back) w.y = -w.y;
    const float2 a = s[at], b = times(s[at + half], w);
    __syncthreads();
    s[at] = make_float2(a.x + b.x, a.y + b.y);
    s[at + half] = make_float2(a.x - b.x, a.y - b.y);
    __syncthreads();
  }
  const float scale = back ? 1.0f / n : 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = make_float2(s[i].x * scale, s[i].y * scale);
}
int main() {
  const int rows = 4;
  const double pi = std::acos(-1.0);
  std::vector<float2> w(n / 2), in(rows * n), out(rows * n);
  for (int i = 0; i < n / 2; ++i) w[i] = make_float2(std::cos(-2 * pi * i / n), std::sin(-2 * pi * i / n));
  MUST(cudaMemcpyToSymbol(roots, w.data(), 100 * sizeof(float2)));
  MUST(cudaMemcpyToSymbol(roots, w.data() + 100, 28 * sizeof(float2), 100 * sizeof(float2)));
  for (auto& v : in) v = make_float2(static_cast<int>(random_number() % 200) / 100.0f - 1, static_cast<int>(random_number() % 200) / 100.0f - 1);
  float2* data;
  MUST(cudaMalloc(&data, rows * n * sizeof(float2)));
  MUST(cudaMemcpy(data, in.data(), rows * n * sizeof(float2), cudaMemcpyHostToDevice));
  fft<<<rows, n / 2>>>(data, 0);
  MUST(cudaMemcpy(out.data(), data, rows * n * sizeof(float2), cudaMemcpyDeviceToHost));
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < n; k += 17) {
      double x = 0, y = 0;
      for (int i = 0; i < n; ++i) {
        const double c = std::cos(-2 * pi * i * k / n), s = std::sin(-2 * pi * i * k / n);
        x += in[r * n + i].x * c - in[r * n + i].y * s, y += in[r * n + i].x * s + in[r * n + i].y * c;
      }
      expect_near("re", out[r * n + k].x, x, 1e-4);
      expect_near("im", out[r * n + k].y, y, 1e-4);
    }
  fft<<<rows, n / 2>>>(data, 1);
  MUST(cudaMemcpy(out.data(), data, rows * n * sizeof(float2), cudaMemcpyDeviceToHost));
  for (int i = 0; i < rows * n; ++i) expect_near("back", out[i].x, in[i].x, 1e-5);
  return done("fft");
}
