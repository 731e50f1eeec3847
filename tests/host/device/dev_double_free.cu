// Memory that is freed twice, or was never given out, is an error of the kernel.
#include "check.h"

__global__ void twice(int which) {
  char* block = static_cast<char*>(malloc(64));
  if (which == 0) free(block);
  free(which == 1 ? block + 16 : block);
}

int main(int argc, char** argv) {
  twice<<<1, 1>>>(argc > 1 ? std::atoi(argv[1]) : 2);
  const cudaError_t error = cudaDeviceSynchronize();
  REQUIRE(error == (argc > 1 ? cudaErrorLaunchFailure : cudaSuccess));
  std::puts("dev_double_free: ok");
}
