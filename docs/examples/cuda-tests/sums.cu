// A library with one function that runs on a GPU: the sum of each row of a matrix.
#include <cuda_runtime.h>

#include "sums.h"

namespace {

__global__ void sum_rows(const float* values, float* sums, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int column = 0; column < columns; ++column) sum += values[row * columns + column];
  sums[row] = sum;
}

}  // namespace

int row_sums(const float* values, float* sums, int rows, int columns) {
  float *device_values = nullptr, *device_sums = nullptr;
  const size_t bytes = sizeof(float) * rows * columns;
  cudaMalloc(&device_values, bytes);
  cudaMalloc(&device_sums, sizeof(float) * rows);
  cudaMemcpy(device_values, values, bytes, cudaMemcpyHostToDevice);
  sum_rows<<<(rows + 127) / 128, 128>>>(device_values, device_sums, rows, columns);
  cudaMemcpy(sums, device_sums, sizeof(float) * rows, cudaMemcpyDeviceToHost);
  cudaFree(device_values);
  cudaFree(device_sums);
  return cudaGetLastError();
}
