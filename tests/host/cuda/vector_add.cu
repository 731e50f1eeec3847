#include "check.h"
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  const int n = 5000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 0.5f * i;
  float *da, *db, *dc;
  MUST(cudaMalloc(&da, n * 4));
  MUST(cudaMalloc(&db, n * 4));
  MUST(cudaMalloc(&dc, n * 4));
  MUST(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) expect("sum", c[i], 1.5f * i);
  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  int attribute = 0;
  MUST(cudaDeviceGetAttribute(&attribute, cudaDevAttrMultiProcessorCount, 0));
  expect("multiprocessors", attribute, p.multiProcessorCount);
  expect("warp", p.warpSize, 32);
  expect("threads", p.maxThreadsPerBlock, 1024);
  MUST(cudaFree(da));
  MUST(cudaFree(db));
  MUST(cudaFree(dc));
  return done("vector_add");
}
