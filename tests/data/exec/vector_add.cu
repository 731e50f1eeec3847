// usage: vector_add [fault|_exit]   Adds two vectors; "fault" lets the kernel run behind their end, "_exit" ends so, too,
// without exit().
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int n = 1000;
  std::vector<float> a(n, 1), b(n, 2), c(n);
  float *da, *db, *dc;
  if (cudaMalloc(&da, n * 4) != cudaSuccess || cudaMalloc(&db, n * 4) != cudaSuccess ||
      cudaMalloc(&dc, n * 4) != cudaSuccess)
    return 3;
  cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(da, db, dc, *what ? n + 20 : n);
  const cudaError_t error = cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost);
  printf("%g %s pid %d\n", c[n - 1], cudaGetErrorName(error), getpid());
  fflush(stdout);
  if (strcmp(what, "_exit") == 0) _exit(0);
  return 0;
}
