// A plug-in: a shared library with a runtime of its own. host.c loads it.
#include <cstdio>

__global__ void twice(int* p) { p[threadIdx.x] *= 2; }

extern "C" int run(void) {
  int host[32], *device;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<1, 32>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  printf("twice 21 is %d\n", host[21]);
  return 0;
}
