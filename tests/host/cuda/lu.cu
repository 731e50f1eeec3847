// LU with partial pivoting, one launch a step; the pivot is found on the device.
#include "check.h"
__global__ void pivot(double* a, int* order, int n, int k) {
  __shared__ double best[64];
  __shared__ int where[64];
  const int t = threadIdx.x;
  best[t] = -1, where[t] = k;
  for (int row = k + t; row < n; row += 64)
    if (fabs(a[row * n + k]) > best[t]) best[t] = fabs(a[row * n + k]), where[t] = row;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half && best[t + half] > best[t]) best[t] = best[t + half], where[t] = where[t + half];
    __syncthreads();
  }
  const int row = where[0];
  for (int x = t; x < n; x += 64) {
    const double swap = a[k * n + x];
    a[k * n + x] = a[row * n + x];
    a[row * n + x] = swap;
  }
  if (t == 0) {
    const int swap = order[k];
    order[k] = order[row], order[row] = swap;
  }
}
__global__ void eliminate(double* a, int n, int k) {
  const int row = k + 1 + blockIdx.x;
  __shared__ double factor;
  if (threadIdx.x == 0) a[row * n + k] = factor = a[row * n + k] / a[k * n + k];
  __syncthreads();
  for (int x = k + 1 + threadIdx.x; x < n; x += blockDim.x) a[row * n + x] -= factor * a[k * n + x];
}
int main() {
  const int n = 40;
  std::vector<double> a(n * n), lu(n * n);
  std::vector<int> order(n);
  for (auto& v : a) v = static_cast<double>(random_number() >> 8) / (1 << 24) - 0.5;
  for (int i = 0; i < n; ++i) order[i] = i;
  double* d_a;
  int* d_order;
  MUST(cudaMalloc(&d_a, n * n * 8));
  MUST(cudaMalloc(&d_order, n * 4));
  MUST(cudaMemcpy(d_a, a.data(), n * n * 8, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_order, order.data(), n * 4, cudaMemcpyHostToDevice));
  for (int k = 0; k < n - 1; ++k) {
    pivot<<<1, 64>>>(d_a, d_order, n, k);
    eliminate<<<n - 1 - k, 32>>>(d_a, n, k);
  }
  MUST(cudaMemcpy(lu.data(), d_a, n * n * 8, cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(order.data(), d_order, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k <= std::min(i, j); ++k) sum += (k == i ? 1 : lu[i * n + k]) * lu[k * n + j];
      expect_near("PA", sum, a[order[i] * n + j], 1e-12);
    }
  return done("lu");
}
