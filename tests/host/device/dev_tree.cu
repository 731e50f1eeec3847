// Search trees that kernels build with malloc, walk in a second launch, and free in a third.
#include "check.h"

struct Node {
  int key;
  Node *left, *right;
};

__device__ Node* insert(Node* root, int key) {
  Node* made = static_cast<Node*>(malloc(sizeof(Node)));
  if (made == nullptr) return root;
  made->key = key, made->left = made->right = nullptr;
  if (root == nullptr) return made;
  for (Node* at = root;;) {
    Node*& next = key < at->key ? at->left : at->right;
    if (next == nullptr) {
      next = made;
      return root;
    }
    at = next;
  }
}
__global__ void build(Node** roots, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = t * 7919 + 1;
  Node* root = nullptr;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    root = insert(root, static_cast<int>(state >> 8));
  }
  roots[t] = root;
}
__global__ void walk(Node** roots, int* sizes, int* sorted) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node* stack[64];
  int depth = 0, size = 0, last = -1, ok = 1;
  for (Node* at = roots[t]; at != nullptr || depth > 0;) {
    for (; at != nullptr; at = at->left) stack[depth++] = at;
    at = stack[--depth];
    ok &= at->key >= last;
    last = at->key;
    ++size;
    at = at->right;
  }
  sizes[t] = size, sorted[t] = ok;
}
__global__ void release(Node** roots) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node* stack[64];
  int depth = 0;
  if (roots[t] != nullptr) stack[depth++] = roots[t];
  while (depth > 0) {
    Node* at = stack[--depth];
    if (at->left != nullptr) stack[depth++] = at->left;
    if (at->right != nullptr) stack[depth++] = at->right;
    free(at);
  }
}

int main() {
  const int threads = 64, keys = 40;
  Node** roots;
  int *sizes, *sorted;
  CHECK(cudaMalloc(&roots, threads * sizeof(Node*)));
  CHECK(cudaMallocManaged(&sizes, threads * sizeof(int)));
  CHECK(cudaMallocManaged(&sorted, threads * sizeof(int)));
  for (int round = 0; round < 3; ++round) {  // what was freed is given out again
    build<<<2, threads / 2>>>(roots, keys);
    walk<<<2, threads / 2>>>(roots, sizes, sorted);
    release<<<2, threads / 2>>>(roots);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) REQUIRE(sizes[t] == keys && sorted[t] == 1);
  }
  CHECK(cudaFree(roots));
  CHECK(cudaFree(sizes));
  CHECK(cudaFree(sorted));
  std::puts("dev_tree: ok");
}
