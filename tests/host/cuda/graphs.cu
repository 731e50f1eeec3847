// Graphs: captured across streams, built by hand, changed, updated as a whole, launched again.
#include "check.h"
__global__ void scale(int* data, int by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
__global__ void add(int* data, const int* other, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += other[i];
}
const int n = 1000;
int calls = 0;
void called(void* by) { calls += *static_cast<int*>(by); }
void fork_and_join(cudaStream_t a, cudaStream_t b, int* x, int* y, int by) {
  cudaEvent_t fork, join;
  MUST(cudaEventCreate(&fork));
  MUST(cudaEventCreate(&join));
  MUST(cudaEventRecord(fork, a));
  MUST(cudaStreamWaitEvent(b, fork, 0));
  scale<<<4, 256, 0, a>>>(x, by, n);
  scale<<<4, 256, 0, b>>>(y, by + 1, n);
  MUST(cudaEventRecord(join, b));
  MUST(cudaStreamWaitEvent(a, join, 0));
  add<<<4, 256, 0, a>>>(x, y, n);
  MUST(cudaEventDestroy(fork));
  MUST(cudaEventDestroy(join));
}
int main() {
  int *x, *y;
  std::vector<int> ones(n, 1), out(n);
  MUST(cudaMalloc(&x, n * 4));
  MUST(cudaMalloc(&y, n * 4));
  const auto reset = [&] {
    MUST(cudaMemcpy(x, ones.data(), n * 4, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(y, ones.data(), n * 4, cudaMemcpyHostToDevice));
  };
  const auto first = [&] {
    MUST(cudaMemcpy(out.data(), x, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 1; i < n; ++i) expect("all the same", out[i], out[0]);
    return out[0];
  };
  cudaStream_t a, b;
  MUST(cudaStreamCreate(&a));
  MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  reset();
  cudaGraph_t graph;
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  fork_and_join(a, b, x, y, 2);
  cudaStreamCaptureStatus status;
  MUST(cudaStreamIsCapturing(b, &status));
  expect("the second stream", static_cast<int>(status), static_cast<int>(cudaStreamCaptureStatusActive));
  MUST(cudaStreamEndCapture(a, &graph));
  size_t nodes = 0;
  MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect("nodes", nodes, 3u);
  expect("nothing ran", first(), 1);
  cudaGraphExec_t exec;
  MUST(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  MUST(cudaGraphLaunch(exec, a));
  MUST(cudaStreamSynchronize(a));
  expect("launched", first(), 2 + 3);
  MUST(cudaGraphLaunch(exec, a));
  MUST(cudaGraphLaunch(exec, b));
  MUST(cudaDeviceSynchronize());
  expect("again", first(), (5 * 2 + 9) * 2 + 27);
  // The same shape with other arguments updates what was made.
  cudaGraph_t other;
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  fork_and_join(a, b, x, y, 10);
  MUST(cudaStreamEndCapture(a, &other));
  cudaGraphExecUpdateResultInfo info;
  MUST(cudaGraphExecUpdate(exec, other, &info));
  reset();
  MUST(cudaGraphLaunch(exec, a));
  MUST(cudaStreamSynchronize(a));
  expect("updated", first(), 10 + 11);
  // By hand: set, copy, kernel, host function.
  cudaGraph_t made;
  cudaGraphNode_t set, copy, kernel, host, empty;
  MUST(cudaGraphCreate(&made, 0));
  cudaMemsetParams fill = {};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = n, fill.height = 1;
  MUST(cudaGraphAddMemsetNode(&set, made, nullptr, 0, &fill));
  MUST(cudaGraphAddMemcpyNode1D(&copy, made, nullptr, 0, y, ones.data(), n * 4, cudaMemcpyHostToDevice));
  int size = n;
  void* args[] = {&x, &y, &size};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add), launch.gridDim = dim3(4), launch.blockDim = dim3(256), launch.kernelParams = args;
  const cudaGraphNode_t needs[] = {set, copy};
  MUST(cudaGraphAddKernelNode(&kernel, made, needs, 2, &launch));
  int by = 3;
  cudaHostNodeParams call = {called, &by};
  MUST(cudaGraphAddHostNode(&host, made, &kernel, 1, &call));
  MUST(cudaGraphAddEmptyNode(&empty, made, &host, 1));
  cudaGraphExec_t by_hand;
  MUST(cudaGraphInstantiate(&by_hand, made, 0));
  MUST(cudaGraphLaunch(by_hand, a));
  MUST(cudaGraphLaunch(by_hand, a));
  MUST(cudaStreamSynchronize(a));
  expect("by hand", first(), 6);
  expect("host node", calls, 6);
  fill.value = 40;
  MUST(cudaGraphExecMemsetNodeSetParams(by_hand, set, &fill));
  int *swapped = y, none = 0;
  void* changed[] = {&x, &swapped, &none};
  launch.kernelParams = changed;
  MUST(cudaGraphExecKernelNodeSetParams(by_hand, kernel, &launch));
  MUST(cudaGraphLaunch(by_hand, a));
  MUST(cudaStreamSynchronize(a));
  expect("changed", first(), 40);
  // A graph inside another, and memory that a captured stream asks for.
  cudaGraph_t outer;
  cudaGraphNode_t child;
  MUST(cudaGraphCreate(&outer, 0));
  MUST(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  cudaGraphExec_t nested;
  MUST(cudaGraphInstantiate(&nested, outer, 0));
  reset();
  MUST(cudaGraphLaunch(nested, a));
  MUST(cudaStreamSynchronize(a));
  expect("child", first(), 5);
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  int* scratch;
  MUST(cudaMallocAsync(&scratch, n * 4, a));
  MUST(cudaMemcpyAsync(scratch, x, n * 4, cudaMemcpyDeviceToDevice, a));
  add<<<4, 256, 0, a>>>(x, scratch, n);
  MUST(cudaFreeAsync(scratch, a));
  cudaGraph_t with_memory;
  MUST(cudaStreamEndCapture(a, &with_memory));
  cudaGraphExec_t doubling;
  MUST(cudaGraphInstantiate(&doubling, with_memory, 0));
  for (int i = 0; i < 3; ++i) MUST(cudaGraphLaunch(doubling, a));
  MUST(cudaStreamSynchronize(a));
  expect("memory", first(), 40);
  // A stream that takes part can be destroyed before the end.
  cudaStream_t short_lived;
  MUST(cudaStreamCreateWithFlags(&short_lived, cudaStreamNonBlocking));
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  fork_and_join(a, short_lived, x, y, 3);
  MUST(cudaStreamDestroy(short_lived));
  cudaGraph_t by_destroyed;
  MUST(cudaStreamEndCapture(a, &by_destroyed));
  MUST(cudaGraphDestroy(by_destroyed));
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  cudaEvent_t never_joined;
  MUST(cudaEventCreate(&never_joined));
  MUST(cudaEventRecord(never_joined, a));
  MUST(cudaStreamWaitEvent(b, never_joined, 0));
  scale<<<4, 256, 0, b>>>(x, 2, n);
  expect("unjoined", static_cast<int>(cudaStreamEndCapture(a, &by_destroyed)), static_cast<int>(cudaErrorStreamCaptureUnjoined));
  MUST(cudaStreamIsCapturing(b, &status));
  expect("left", static_cast<int>(status), static_cast<int>(cudaStreamCaptureStatusNone));
  cudaGetLastError();
  // What a capture forbids.
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  expect("waiting", static_cast<int>(cudaStreamSynchronize(a)), static_cast<int>(cudaErrorStreamCaptureUnsupported));
  cudaGraph_t nothing;
  expect("invalid", static_cast<int>(cudaStreamEndCapture(a, &nothing)), static_cast<int>(cudaErrorStreamCaptureInvalidated));
  cudaGetLastError();
  for (cudaGraphExec_t e : {exec, by_hand, nested, doubling}) MUST(cudaGraphExecDestroy(e));
  for (cudaGraph_t g : {graph, other, made, outer, with_memory}) MUST(cudaGraphDestroy(g));
  return done("graphs");
}
