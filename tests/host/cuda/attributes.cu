// What a program asks about the device and its functions, and launches by these answers.
#include <string>

#include <cuda_profiler_api.h>

#include "check.h"
__global__ void __launch_bounds__(256) kernel(int* out, double x) {
  __shared__ int s[100];
  s[threadIdx.x % 100] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[0] + static_cast<int>(x);
}
extern __shared__ int dynamic[];
__global__ void reverse(int* data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = dynamic[n - 1 - i];
}
int main() {
  int count = 0, device = -1, runtime = 0, driver = 0;
  MUST(cudaGetDeviceCount(&count));
  MUST(cudaSetDevice(count - 1));
  MUST(cudaGetDevice(&device));
  expect("device", device, count - 1);
  MUST(cudaRuntimeGetVersion(&runtime));
  MUST(cudaDriverGetVersion(&driver));
  expect("runtime", runtime, CUDART_VERSION);
  expect("driver", driver >= runtime, true);
  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  const struct { cudaDeviceAttr attribute; int value; } rows[] = {
      {cudaDevAttrComputeCapabilityMajor, p.major}, {cudaDevAttrMaxGridDimY, p.maxGridSize[1]}, {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrL2CacheSize, p.l2CacheSize}, {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrManagedMemory, p.managedMemory}, {cudaDevAttrMemoryPoolsSupported, 1},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(p.sharedMemPerBlockOptin)}};
  for (const auto& r : rows) {
    int value = -1;
    MUST(cudaDeviceGetAttribute(&value, r.attribute, 0));
    expect("attribute", value, r.value);
  }
  cudaFuncAttributes a;
  MUST(cudaFuncGetAttributes(&a, kernel));
  expect("shared", a.sharedSizeBytes, 400u);
  expect("threads", a.maxThreadsPerBlock, 256);
  int blocks = 0, best = 0, grid = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
  expect("blocks", blocks >= 1 && blocks * 256 <= p.maxThreadsPerMultiProcessor, true);
  MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &best, kernel, 0, 0));
  expect("block size", best, 256);
  int* out;
  MUST(cudaMallocManaged(&out, best * 2 * 4));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2), config.blockDim = dim3(best);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = 0;
  config.attrs = &attribute, config.numAttrs = 1;
  MUST(cudaLaunchKernelEx(&config, kernel, out, 41.5));
  MUST(cudaDeviceSynchronize());
  expect("launched", out[best + 3], 41 + 200);
  const int n = 4096;
  int* data;
  MUST(cudaMallocManaged(&data, n * 4));
  for (int i = 0; i < n; ++i) data[i] = i;
  MUST(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
  reverse<<<1, 128, n * 4>>>(data, n);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expect("reversed", data[i], n - 1 - i);
  size_t stack = 0;
  MUST(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  MUST(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  expect("limit", stack, 4096u);
  expect("name", std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue", true);
  expect("text", std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument", true);
  expect("a refused name", static_cast<int>(cudaIpcGetMemHandle(nullptr, nullptr)), static_cast<int>(cudaErrorNotSupported));
  cudaGetLastError();
  MUST(cudaProfilerStart());
  MUST(cudaProfilerStop());
  MUST(cudaDeviceReset());
  MUST(cudaMalloc(&out, 64));
  return done("attributes");
}
