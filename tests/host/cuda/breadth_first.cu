// Distances in a graph, a launch for each, with a queue that the kernels fill and a flag in pinned memory.
#include "check.h"
__global__ void next(const int* first, const int* edges, int* distance, const int* queue, int length, int* later,
                     int* later_length, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  for (int e = first[queue[i]]; e < first[queue[i] + 1]; ++e)
    if (atomicCAS(&distance[edges[e]], -1, level) == -1) later[atomicAdd(later_length, 1)] = edges[e];
}
int main() {
  const int n = 1500;
  std::vector<int> first(n + 1), edges, wanted(n, -1), found(n);
  for (int v = 0; v < n; ++v) {
    for (int e = 0; e < 3; ++e) edges.push_back(v % 500 / 2 * 2 + (random_number() >> 12) % 40 + (v / 500) * 460);
    first[v + 1] = static_cast<int>(edges.size());
  }
  for (int& e : edges) e %= n;
  std::vector<int> queue = {3};
  wanted[3] = 0;
  for (size_t at = 0; at < queue.size(); ++at)
    for (int e = first[queue[at]]; e < first[queue[at] + 1]; ++e)
      if (wanted[edges[e]] == -1) wanted[edges[e]] = wanted[queue[at]] + 1, queue.push_back(edges[e]);
  int *d_first, *d_edges, *d_distance, *d_queue[2], *length;
  MUST(cudaMalloc(&d_first, (n + 1) * sizeof(int)));
  MUST(cudaMalloc(&d_edges, edges.size() * sizeof(int)));
  MUST(cudaMalloc(&d_distance, n * sizeof(int)));
  for (int*& q : d_queue) MUST(cudaMalloc(&q, n * sizeof(int)));
  MUST(cudaHostAlloc(&length, sizeof(int), cudaHostAllocMapped));
  MUST(cudaMemcpy(d_first, first.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
  MUST(cudaMemset(d_distance, 0xff, n * sizeof(int)));
  const int source = 3, zero = 0;
  MUST(cudaMemcpy(d_queue[0], &source, sizeof(int), cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_distance + source, &zero, sizeof(int), cudaMemcpyHostToDevice));
  int* d_length;
  MUST(cudaHostGetDevicePointer(&d_length, length, 0));
  for (int level = 1, now = 1; now != 0; ++level, now = *length) {
    *length = 0;
    next<<<(now + 63) / 64, 64>>>(d_first, d_edges, d_distance, d_queue[level % 2 ^ 1], now, d_queue[level % 2],
                                  d_length, level);
    MUST(cudaDeviceSynchronize());
  }
  MUST(cudaMemcpy(found.data(), d_distance, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int v = 0; v < n; ++v) expect("distance", found[v], wanted[v]);
  return done("breadth_first");
}
