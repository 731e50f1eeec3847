// What kernels allocate, by the device library's own allocator: it asks the host for slabs of 2
// MiB, and for each large block.
#include "check.hpp"

struct Node {
  Node* next;
  int value;
};

__global__ void lists(int* sums, int length) {
  const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  Node* first = nullptr;
  for (int n = 0; n < length; ++n) {
    auto* node = static_cast<Node*>(malloc(sizeof(Node) + 40 * (lane % 3)));
    if (node == nullptr) return;
    *node = {first, lane * 10 + n};
    first = node;
  }
  int sum = 0;
  while (first != nullptr) {
    sum += first->value;
    Node* const next = first->next;
    free(first);
    first = next;
  }
  sums[lane] = sum;
}

__global__ void large(int* results) {
  constexpr size_t kBytes = 100000, kTooMany = size_t{1} << 30;
  if (threadIdx.x == 0) {
    auto* block = static_cast<int*>(malloc(kBytes));
    results[0] = block != nullptr;
    block[0] = 4;
    block[kBytes / sizeof(int) - 1] = 5;
    results[1] = block[0] + block[kBytes / sizeof(int) - 1];
    free(block);
    results[2] = malloc(kTooMany) == nullptr;
  }
}

int main() {
  constexpr int kBlocks = 3, kThreads = 70, kLanes = kBlocks * kThreads, kLength = 4;
  int* results = nullptr;
  CHECK(hipMalloc(&results, kLanes * sizeof(int)));
  CHECK(hipMemset(results, 0, kLanes * sizeof(int)));
  lists<<<kBlocks, kThreads>>>(results, kLength);
  std::vector<int> host(kLanes);
  CHECK(hipMemcpy(host.data(), results, kLanes * sizeof(int), hipMemcpyDeviceToHost));
  for (int lane = 0; lane < kLanes; ++lane) EXPECT(host[lane] == kLength * lane * 10 + 6);
  large<<<1, 64>>>(results);
  CHECK(hipMemcpy(host.data(), results, 3 * sizeof(int), hipMemcpyDeviceToHost));
  EXPECT(host[0] == 1 && host[1] == 9 && host[2] == 1);
  CHECK(hipFree(results));
  std::printf("hip_malloc: ok\n");
  return 0;
}
