// A heap that is used up gives null, and memory again once some of it was freed. Its size is set before the first use.
#include "check.h"

__global__ void take_all(void** first, int* count, size_t bytes) {
  void* list = nullptr;
  int n = 0;
  for (;; ++n) {
    void** block = static_cast<void**>(malloc(bytes));
    if (block == nullptr) break;
    *block = list;
    list = block;
  }
  *first = list, *count = n;
}
__global__ void give_back(void** first) {
  for (void* at = *first; at != nullptr;) {
    void* next = *static_cast<void**>(at);
    free(at);
    at = next;
  }
  free(nullptr);
}
__global__ void odd(int* out) {
  void* nothing = malloc(static_cast<size_t>(1) << 40);
  void* all[4];
  bool good = nothing == nullptr;
  for (int i = 0; i < 4; ++i) all[i] = malloc(1 + 100 * i);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) good = good && all[i] != all[j] && reinterpret_cast<size_t>(all[i]) % 16 == 0;
  for (int i = 0; i < 4; ++i) free(all[i]);
  *out = good;
}

int main() {
  size_t bytes = 0;
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  REQUIRE(bytes == 8 << 20);
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  REQUIRE(bytes == 1 << 20);
  void** first;
  int* count;
  CHECK(cudaMalloc(&first, sizeof(void*)));
  CHECK(cudaMallocManaged(&count, sizeof(int)));
  int before = 0;
  for (const size_t size : {size_t{4096}, size_t{4096}, size_t{48}}) {
    take_all<<<1, 1>>>(first, count, size);
    CHECK(cudaDeviceSynchronize());
    const int most = static_cast<int>((1 << 20) / size);
    REQUIRE(*count >= most / 2 && *count <= 2 * most);
    REQUIRE(size != 4096 || before == 0 || *count == before);
    before = *count;
    give_back<<<1, 1>>>(first);
    if (size == 48) break;
  }
  odd<<<1, 1>>>(count);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(*count == 1);
  REQUIRE(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 << 20) == cudaErrorInvalidValue);  // it is in use
  std::puts("dev_exhausted: ok");
}
