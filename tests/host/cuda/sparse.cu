// Sparse matrices by vector, a warp to a row with tiles of a cooperative group, and a bitonic sort of the result.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"
namespace cg = cooperative_groups;
__global__ void multiply(const int* first, const int* column, const double* value, const double* x, double* y, int rows) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  if (row >= rows) return;
  double sum = 0;
  for (int i = first[row] + static_cast<int>(tile.thread_rank()); i < first[row + 1]; i += 8) sum += value[i] * x[column[i]];
  sum = cg::reduce(tile, sum, cg::plus<double>());
  if (tile.thread_rank() == 0) y[row] = sum;
}
__global__ void sort(double* data, int n) {
  extern __shared__ double part[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) part[i] = data[i];
  for (int size = 2; size <= n; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int other = i ^ step;
        if (other > i && (part[i] > part[other]) == ((i & size) == 0)) {
          const double keep = part[i];
          part[i] = part[other], part[other] = keep;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = part[i];
}
int main() {
  const int rows = 256;
  std::vector<int> first = {0}, column;
  std::vector<double> value, x(rows), wanted(rows), found(rows);
  for (double& v : x) v = static_cast<int>(random_number() >> 24);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < r % 23; ++i) {
      column.push_back((random_number() >> 10) % rows);
      value.push_back(static_cast<int>(random_number() >> 25) - 64);
      wanted[r] += value.back() * x[column.back()];
    }
    first.push_back(static_cast<int>(column.size()));
  }
  int *d_first, *d_column;
  double *d_value, *d_x, *d_y;
  MUST(cudaMalloc(&d_first, first.size() * 4));
  MUST(cudaMalloc(&d_column, column.size() * 4));
  MUST(cudaMalloc(&d_value, value.size() * 8));
  MUST(cudaMalloc(&d_x, rows * 8));
  MUST(cudaMalloc(&d_y, rows * 8));
  MUST(cudaMemcpy(d_first, first.data(), first.size() * 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_column, column.data(), column.size() * 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_value, value.data(), value.size() * 8, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_x, x.data(), rows * 8, cudaMemcpyHostToDevice));
  multiply<<<rows * 8 / 64, 64>>>(d_first, d_column, d_value, d_x, d_y, rows);
  MUST(cudaMemcpy(found.data(), d_y, rows * 8, cudaMemcpyDeviceToHost));
  for (int r = 0; r < rows; ++r) expect("row", found[r], wanted[r]);
  sort<<<1, 64, rows * 8>>>(d_y, rows);
  MUST(cudaMemcpy(found.data(), d_y, rows * 8, cudaMemcpyDeviceToHost));
  std::sort(wanted.begin(), wanted.end());
  for (int r = 0; r < rows; ++r) expect("sorted", found[r], wanted[r]);
  return done("sparse");
}
