// Every third thread forgets what it allocated, and the host one buffer: LANEWISE_CHECK=leaks lists both.
#include "check.h"

__global__ void forget(int* out) {
  int* data = static_cast<int*>(malloc(100));
  data[0] = threadIdx.x;
  out[threadIdx.x] = data[0];
  if (threadIdx.x % 3 != 0) free(data);
}

int main() {
  int* out;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  forget<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  std::puts("dev_leak: ok");
}
