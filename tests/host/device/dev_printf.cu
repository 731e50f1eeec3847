// A flood of lines, each whole; what a launch printed is out once a call waits for it.
#include "check.h"

__global__ void chatter(int lines) {
  for (int i = 0; i < lines; ++i)
    printf("line %d of block %d thread %d: %s %.3f %llx\n", i, blockIdx.x, threadIdx.x, i % 2 ? "odd" : "even",
           i / 8.0, 0x123456789abcdefULL);
}
__global__ void counted(int* result) { *result = printf("%d %d %c\n", 1, 2, '3'); }

int main() {
  int* result;
  CHECK(cudaMallocManaged(&result, sizeof(int)));
  chatter<<<8, 32>>>(8);
  CHECK(cudaDeviceSynchronize());
  std::puts("between");
  counted<<<1, 1>>>(result);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(*result == 3);
  std::puts("dev_printf: ok");
}
