// Attributes and occupancy of functions, contexts, ranges of memory, a launch between two events, a
// kernel without arguments, and one that holds the semaphore of cooperative launches behind a
// branch.
#include "check.hpp"

#include <hip/hip_ext.h>

__device__ unsigned counter;
__global__ void no_arguments() {
  atomicAdd(&counter, blockDim.x * gridDim.x);
}
__global__ void __launch_bounds__(256) tile(int* out) {
  __shared__ int values[512];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
__global__ void semaphore(int* out, int with) {
  if (with != 0) __builtin_amdgcn_ds_gws_barrier(0, 0);
  out[threadIdx.x] = with + 7;
}

static void functions() {
  hipFuncAttributes a;
  CHECK(hipFuncGetAttributes(&a, reinterpret_cast<const void*>(tile)));
  EXPECT(a.sharedSizeBytes == 2048 && a.maxThreadsPerBlock >= 256 && a.binaryVersion == 803);
  int blocks = 0, threads = 0, grid = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, 256, 0));
  EXPECT(blocks > 0);
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &threads, tile, 0, 0));
  hipDeviceProp_t card;
  CHECK(hipGetDeviceProperties(&card, 0));
  EXPECT(threads >= 256 && threads % 64 == 0 && grid > 0 && grid % card.multiProcessorCount == 0);
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &threads, tile, 0, 100));
  EXPECT(threads <= 100 && threads > 0);
  CHECK(hipFuncSetAttribute(reinterpret_cast<const void*>(tile),
                            hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
  CHECK(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeFourByte));
}

static void contexts() {
  hipCtx_t made, current;
  hipDevice_t device = -1;
  CHECK(hipInit(0));
  CHECK(hipCtxCreate(&made, 0, 0));
  CHECK(hipCtxGetCurrent(&current));
  CHECK(hipCtxGetDevice(&device));
  EXPECT(current == made && device == 0);
  CHECK(hipCtxSynchronize());
  CHECK(hipCtxPopCurrent(&current));
  EXPECT(current == made);
  CHECK(hipCtxPushCurrent(made));
  CHECK(hipCtxDestroy(made));
  CHECK(hipDevicePrimaryCtxRetain(&current, 0));
  CHECK(hipCtxSetCurrent(current));
  CHECK(hipDevicePrimaryCtxRelease(0));
}

static void memory() {
  char* data;
  hipDeviceptr_t base = nullptr;
  size_t bytes = 0;
  CHECK(hipExtMallocWithFlags(reinterpret_cast<void**>(&data), 4096, hipDeviceMallocFinegrained));
  CHECK(hipMemGetAddressRange(&base, &bytes, data + 100));
  EXPECT(base == data && bytes == 4096);
  bytes = 0;
  CHECK(hipMemPtrGetInfo(data, &bytes));
  EXPECT(bytes == 4096);
  CHECK(hipMemset2DAsync(data, 64, 3, 16, 4, nullptr));
  CHECK(hipMemsetD16Async(data + 16, 0x0102, 2, nullptr));
  char host[256];
  CHECK(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));
  EXPECT(host[0] == 3 && host[15] == 3 && host[16] == 2 && host[17] == 1 && host[64 + 15] == 3);
  hipPitchedPtr box;
  CHECK(hipMalloc3D(&box, make_hipExtent(10, 3, 2)));
  CHECK(hipMemset3D(box, 9, make_hipExtent(10, 3, 2)));
  char out[60] = {};
  hipMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_hipPitchedPtr(out, 10, 10, 3);
  copy.extent = make_hipExtent(10, 3, 2);
  copy.kind = hipMemcpyDeviceToHost;
  CHECK(hipMemcpy3D(&copy));
  for (const char c : out) EXPECT(c == 9);
  int* managed;
  CHECK(hipMallocManaged(&managed, 4096, hipMemAttachGlobal));
  CHECK(hipMemAdvise(managed, 4096, hipMemAdviseSetCoarseGrain, 0));
  CHECK(hipMemAdvise(managed, 4096, hipMemAdviseSetReadMostly, 0));
  CHECK(hipMemPrefetchAsync(managed, 4096, 0, nullptr));
  CHECK(hipFree(managed));
  CHECK(hipFree(box.ptr));
  CHECK(hipFree(data));
}

int main(int argc, char**) {
  functions();
  contexts();
  memory();
  no_arguments<<<3, 5>>>();
  unsigned count = 0;
  CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
  EXPECT(count == 225);
  int *out, host[256];
  hipEvent_t begin, end;
  CHECK(hipMalloc(&out, sizeof host));
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  void* arguments[] = {&out};
  CHECK(hipExtLaunchKernel(reinterpret_cast<void*>(tile), dim3(1), dim3(256), arguments, 0, nullptr,
                           begin, end, 0));
  CHECK(hipEventSynchronize(end));
  float time = -1;
  CHECK(hipEventElapsedTime(&time, begin, end));
  CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  EXPECT(time >= 0 && host[0] == 255 && host[255] == 0);
  semaphore<<<1, 64>>>(out, argc - 1);
  CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  EXPECT(host[63] == 7);
  std::printf("hip_functions: ok\n");
}
