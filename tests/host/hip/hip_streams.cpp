// Streams, events with times, callbacks, pinned memory, a captured graph.
#include "check.hpp"

__global__ void scale(int* data, int by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * by + 1;
}
static void called(hipStream_t, hipError_t status, void* user) {
  *static_cast<int*>(user) += status == hipSuccess;
}

int main() {
  const int n = 512;
  int *data, *pinned, calls = 0;
  hipStream_t one, two;
  hipEvent_t begin, end;
  CHECK(hipStreamCreate(&one));
  CHECK(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreateWithFlags(&end, hipEventDefault));
  CHECK(hipMalloc(&data, n * sizeof(int)));
  CHECK(hipHostMalloc(&pinned, n * sizeof(int), hipHostMallocDefault));
  for (int i = 0; i < n; ++i) pinned[i] = i;
  CHECK(hipEventRecord(begin, one));
  CHECK(hipMemcpyAsync(data, pinned, n * sizeof(int), hipMemcpyHostToDevice, one));
  scale<<<2, 256, 0, one>>>(data, 3, n);
  CHECK(hipEventRecord(end, one));
  CHECK(hipStreamWaitEvent(two, end, 0));
  scale<<<2, 256, 0, two>>>(data, 2, n);
  CHECK(hipStreamAddCallback(two, called, &calls, 0));
  CHECK(hipMemcpyAsync(pinned, data, n * sizeof(int), hipMemcpyDeviceToHost, two));
  CHECK(hipStreamSynchronize(two));
  float time = -1;
  CHECK(hipEventElapsedTime(&time, begin, end));
  EXPECT(time >= 0 && calls == 1 && hipStreamQuery(one) == hipSuccess);
  for (int i = 0; i < n; ++i) EXPECT(pinned[i] == (i * 3 + 1) * 2 + 1);
  hipGraph_t graph;
  hipGraphExec_t ready;
  CHECK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
  CHECK(hipMemsetAsync(data, 0, n * sizeof(int), one));
  scale<<<2, 256, 0, one>>>(data, 5, n);
  scale<<<2, 256, 0, one>>>(data, 5, n);
  CHECK(hipStreamEndCapture(one, &graph));
  CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(ready, two));
  CHECK(hipStreamSynchronize(two));
  CHECK(hipMemcpy(pinned, data, n * sizeof(int), hipMemcpyDeviceToHost));
  EXPECT(pinned[0] == 6 && pinned[n - 1] == 6);
  CHECK(hipGraphExecDestroy(ready));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipHostFree(pinned));
  CHECK(hipStreamDestroy(one));
  CHECK(hipEventDestroy(begin));
  std::puts("hip_streams: ok");
}
