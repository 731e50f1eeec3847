// Events and times.
#include "check.h"
__global__ void spin(unsigned* out, int rounds) {
  unsigned v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 1664525u + 1013904223u;
  out[threadIdx.x] = v;
}
int main() {
  unsigned* out;
  MUST(cudaMalloc(&out, 64 * 4));
  cudaEvent_t begin, middle, end, plain;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&middle));
  MUST(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  MUST(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  float ms = -1;
  expect("not recorded", static_cast<int>(cudaEventElapsedTime(&ms, begin, end)), static_cast<int>(cudaErrorInvalidResourceHandle));
  MUST(cudaEventSynchronize(begin));
  MUST(cudaEventQuery(begin));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaEventRecord(begin, stream));
  spin<<<1, 64, 0, stream>>>(out, 10);
  MUST(cudaEventRecord(middle, stream));
  spin<<<1, 64, 0, stream>>>(out, 5000);
  MUST(cudaEventRecord(end, stream));
  MUST(cudaEventRecord(plain, stream));
  MUST(cudaEventSynchronize(end));
  float first, second, both;
  MUST(cudaEventElapsedTime(&first, begin, middle));
  MUST(cudaEventElapsedTime(&second, middle, end));
  MUST(cudaEventElapsedTime(&both, begin, end));
  expect("times pass", first > 0 && second > 0, true);
  expect_near("they add up", both, first + second, 1e-3 * both);
  expect("no time", static_cast<int>(cudaEventElapsedTime(&ms, begin, plain)), static_cast<int>(cudaErrorInvalidResourceHandle));
  MUST(cudaEventDestroy(plain));
  expect("destroyed", static_cast<int>(cudaEventRecord(plain, stream)), static_cast<int>(cudaErrorInvalidResourceHandle));
  expect("last error", static_cast<int>(cudaGetLastError()), static_cast<int>(cudaErrorInvalidResourceHandle));
  expect("taken", static_cast<int>(cudaGetLastError()), 0);
  return done("events");
}
