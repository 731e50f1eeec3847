// Sorting, scanning and reducing with the library that comes with the toolkit, and through Thrust's vectors.
#include <algorithm>
#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "check.h"
int main() {
  const int n = 3000;
  std::vector<unsigned> keys(n), sorted(n), sums(n);
  for (auto& k : keys) k = random_number();
  unsigned *in, *out;
  MUST(cudaMalloc(&in, n * 4));
  MUST(cudaMalloc(&out, n * 4));
  MUST(cudaMemcpy(in, keys.data(), n * 4, cudaMemcpyHostToDevice));
  void* scratch = nullptr;
  size_t bytes = 0;
  MUST(cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n));
  MUST(cudaMalloc(&scratch, bytes));
  MUST(cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n));
  MUST(cudaMemcpy(sorted.data(), out, n * 4, cudaMemcpyDeviceToHost));
  std::vector<unsigned> wanted = keys;
  std::sort(wanted.begin(), wanted.end());
  for (int i = 0; i < n; ++i) expect("sorted", sorted[i], wanted[i]);
  MUST(cudaFree(scratch));
  scratch = nullptr;
  MUST(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n));
  MUST(cudaMalloc(&scratch, bytes));
  MUST(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n));
  MUST(cudaMemcpy(sums.data(), out, n * 4, cudaMemcpyDeviceToHost));
  std::partial_sum(keys.begin(), keys.end(), wanted.begin());
  for (int i = 0; i < n; ++i) expect("scanned", sums[i], wanted[i]);
  MUST(cudaFree(scratch));
  scratch = nullptr;
  MUST(cub::DeviceReduce::Max(scratch, bytes, in, out, n));
  MUST(cudaMalloc(&scratch, bytes));
  MUST(cub::DeviceReduce::Max(scratch, bytes, in, out, n));
  unsigned most = 0;
  MUST(cudaMemcpy(&most, out, 4, cudaMemcpyDeviceToHost));
  expect("most", most, *std::max_element(keys.begin(), keys.end()));
  std::vector<int> numbers(1000);
  for (auto& v : numbers) v = static_cast<int>(random_number() >> 16) - 30000;
  thrust::device_vector<int> vector(numbers.begin(), numbers.end());
  expect("sum", thrust::reduce(vector.begin(), vector.end(), 0), std::accumulate(numbers.begin(), numbers.end(), 0));
  thrust::sort(vector.begin(), vector.end(), ::cuda::std::greater<int>());
  std::sort(numbers.rbegin(), numbers.rend());
  std::vector<int> back(numbers.size());
  thrust::copy(vector.begin(), vector.end(), back.begin());
  for (size_t i = 0; i < back.size(); ++i) expect("descending", back[i], numbers[i]);
  return done("cub_sort");
}
