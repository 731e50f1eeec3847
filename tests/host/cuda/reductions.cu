// Reductions in four streams with pinned memory, events between them, a host function at the end.
#include "check.h"
__global__ void reduce(const int* in, long long* out, int n) {
  __shared__ long long part[256];
  long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half >= 32; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    sum = part[threadIdx.x];
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lane);
    if (threadIdx.x == 0) atomicAdd(reinterpret_cast<unsigned long long*>(out), static_cast<unsigned long long>(sum));
  }
}
__global__ void total(const long long* parts, long long* out) { *out = parts[0] + parts[1] + parts[2] + parts[3]; }
void count_up(void* user) { ++*static_cast<int*>(user); }
int main() {
  const int streams = 4, n = 20000;
  int* host;
  long long* result;
  MUST(cudaMallocHost(&host, streams * n * sizeof(int)));
  MUST(cudaHostAlloc(&result, sizeof *result, cudaHostAllocDefault));
  long long wanted = 0;
  for (int i = 0; i < streams * n; ++i) wanted += host[i] = static_cast<int>(random_number() % 1000) - 300;
  int* in;
  long long *parts, *sum;
  MUST(cudaMalloc(&in, streams * n * sizeof(int)));
  MUST(cudaMalloc(&parts, streams * sizeof(long long)));
  MUST(cudaMalloc(&sum, sizeof(long long)));
  MUST(cudaMemset(parts, 0, streams * sizeof(long long)));
  cudaStream_t stream[streams];
  cudaEvent_t ready[streams];
  int called = 0, least, greatest;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (int s = 0; s < streams; ++s) {
    if (s == 0)
      MUST(cudaStreamCreateWithPriority(&stream[s], cudaStreamNonBlocking, greatest));
    else
      MUST(cudaStreamCreateWithFlags(&stream[s], s % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
    MUST(cudaEventCreateWithFlags(&ready[s], cudaEventDisableTiming));
    MUST(cudaMemcpyAsync(in + s * n, host + s * n, n * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
    reduce<<<8, 256, 0, stream[s]>>>(in + s * n, parts + s, n);
    MUST(cudaEventRecord(ready[s], stream[s]));
    MUST(cudaLaunchHostFunc(stream[s], count_up, &called));
  }
  for (int s = 1; s < streams; ++s) MUST(cudaStreamWaitEvent(stream[0], ready[s], 0));
  total<<<1, 1, 0, stream[0]>>>(parts, sum);
  MUST(cudaMemcpyAsync(result, sum, sizeof *result, cudaMemcpyDeviceToHost, stream[0]));
  MUST(cudaStreamSynchronize(stream[0]));
  expect("sum", *result, wanted);
  MUST(cudaDeviceSynchronize());
  expect("host functions", called, streams);
  for (int s = 0; s < streams; ++s) {
    MUST(cudaStreamQuery(stream[s]));
    MUST(cudaEventQuery(ready[s]));
    MUST(cudaStreamDestroy(stream[s]));
    MUST(cudaEventDestroy(ready[s]));
  }
  // Pinned memory is one memory with one address for both sides.
  reduce<<<4, 256>>>(host, parts, streams * n);
  long long again = 0, before = 0;
  MUST(cudaMemcpy(&again, parts, sizeof again, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) before += host[i];
  expect("pinned memory", again, before + wanted);
  MUST(cudaFreeHost(host));
  MUST(cudaFreeHost(result));
  return done("reductions");
}
