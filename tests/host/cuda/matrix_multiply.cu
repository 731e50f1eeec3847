// Tiles in static and in dynamic shared memory, sizes that no tile divides, transposes, and an occupancy's shape.
#include "check.h"
template <int tile>
__global__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  __shared__ float as[tile][tile], bs[tile][tile + 1];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int at = 0; at < k; at += tile) {
    as[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  extern __shared__ float part[];
  const int width = blockDim.x + 1;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) part[threadIdx.y * width + threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * blockDim.y + threadIdx.x, y = blockIdx.x * blockDim.x + threadIdx.y;
  if (x < rows && y < columns) out[y * rows + x] = part[threadIdx.x * width + threadIdx.y];
}
__global__ void scale(float* data, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
int main() {
  const int m = 37, k = 51, n = 45;
  std::vector<float> a(m * k), b(k * n), found(m * n);
  for (float& v : a) v = static_cast<int>(random_number() >> 28) - 8;
  for (float& v : b) v = static_cast<int>(random_number() >> 28) - 8;
  float *d_a, *d_b, *d_c, *d_t;
  MUST(cudaMalloc(&d_a, a.size() * 4));
  MUST(cudaMalloc(&d_b, b.size() * 4));
  MUST(cudaMalloc(&d_c, found.size() * 4));
  MUST(cudaMalloc(&d_t, found.size() * 4));
  MUST(cudaMemcpy(d_a, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_b, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
  for (const bool large : {false, true}) {
    if (large)
      multiply<16><<<dim3(3, 3), dim3(16, 16)>>>(d_a, d_b, d_c, m, k, n);
    else
      multiply<8><<<dim3(6, 5), dim3(8, 8)>>>(d_a, d_b, d_c, m, k, n);
    transpose<<<dim3(3, 3), dim3(16, 16), 16 * 17 * 4>>>(d_c, d_t, m, n);
    int grid = 0, block = 0;
    MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale, 0, 0));
    scale<<<(m * n + block - 1) / block, block>>>(d_t, 2.0f, m * n);
    MUST(cudaMemcpy(found.data(), d_t, found.size() * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
        expect("element", found[j * m + i], 2 * sum);
      }
  }
  return done("matrix_multiply");
}
