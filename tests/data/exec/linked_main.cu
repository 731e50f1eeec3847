// With linked_part.cu, compiled for separate linking: a kernel of each file calls a function of the other.
#include <cstdio>

static __device__ int factor = 3;  // the other file has one of the same name
extern __device__ int offset;
__device__ int plus_offset(int x);
__device__ int times(int x) { return x * factor; }
__global__ void part_kernel(int* p);

__global__ void main_kernel(int* p) { p[threadIdx.x] = plus_offset(threadIdx.x) + offset; }

int main() {
  int *device, host[64];
  cudaMalloc(&device, sizeof host);
  main_kernel<<<1, 32>>>(device);
  part_kernel<<<1, 32>>>(device + 32);
  const cudaError_t error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %d %s\n", host[7], host[32 + 7], cudaGetErrorName(error));
}
