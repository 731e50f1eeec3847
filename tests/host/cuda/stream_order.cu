// Work of several streams: with an argument "wrong N" it misses an order, which --check race finds; "right N" is its
// near miss; without arguments all of those run.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t error = (call);                                                   \
    if (error != cudaSuccess) {                                                         \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));        \
      std::exit(2);                                                                     \
    }                                                                                   \
  } while (0)

namespace {

constexpr int kCount = 1000, kBytes = kCount * sizeof(int);
bool right;

__global__ void add(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + 1;
}
__global__ void fill(int* to, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = value + i;
}
__global__ void count(int* to) { atomicAdd(to, 1); }
__global__ void clear(int* to) { *to = 7; }

struct Work {
  cudaStream_t a, b;
  cudaEvent_t event, other;
  int *x, *y, *host;

  Work() {
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
    CHECK(cudaMalloc(&x, kBytes));
    CHECK(cudaMalloc(&y, kBytes));
    CHECK(cudaMallocHost(&host, kBytes));
    CHECK(cudaMemset(x, 0, kBytes));
    CHECK(cudaMemset(y, 0, kBytes));
    for (int i = 0; i < kCount; ++i) host[i] = i;
    CHECK(cudaDeviceSynchronize());
  }
  ~Work() {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(host));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaEventDestroy(other));
  }
  void up(cudaStream_t s) { CHECK(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, s)); }
  void down(cudaStream_t s) { CHECK(cudaMemcpyAsync(host, y, kBytes, cudaMemcpyDeviceToHost, s)); }
  void run(cudaStream_t s) { add<<<4, 256, 0, s>>>(x, y, kCount); }
  void order(cudaEvent_t e, cudaStream_t from, cudaStream_t to) {
    CHECK(cudaEventRecord(e, from));
    CHECK(cudaStreamWaitEvent(to, e, 0));
  }
};

void upload(Work& w) {
  w.up(w.a);
  if (right) w.order(w.event, w.a, w.b);
  w.run(w.b);
}
void download(Work& w) {
  w.run(w.a);
  if (right) w.order(w.event, w.a, w.b);
  w.down(w.b);
}
void recorded_early(Work& w) {
  if (!right) CHECK(cudaEventRecord(w.event, w.a));
  w.up(w.a);
  if (right) CHECK(cudaEventRecord(w.event, w.a));
  CHECK(cudaStreamWaitEvent(w.b, w.event, 0));
  w.run(w.b);
}
void another_event(Work& w) {
  w.up(w.a);
  CHECK(cudaEventRecord(w.event, w.a));
  CHECK(cudaEventRecord(w.other, w.b));
  CHECK(cudaStreamWaitEvent(w.b, right ? w.event : w.other, 0));
  w.run(w.b);
}
/// A blocking stream waits for the default one.
void memset_on_default(Work& w) {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, right ? cudaStreamDefault : cudaStreamNonBlocking));
  CHECK(cudaMemset(w.x, 1, kBytes));
  w.run(s);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(s));
}
void one_target(Work& w) {
  fill<<<2, 256, 0, w.a>>>(w.x, 1, 500);
  fill<<<2, 256, 0, w.b>>>(w.x + (right ? 500 : 499), 2, 500);
}
void refill(Work& w) {
  w.run(w.a);
  if (right) w.order(w.event, w.a, w.b);
  w.up(w.b);
}
void freed_elsewhere(Work& w) {
  int* own;
  CHECK(cudaMallocAsync(&own, kBytes, w.a));
  fill<<<4, 256, 0, w.a>>>(own, 1, kCount);
  if (right) w.order(w.event, w.a, w.b);
  CHECK(cudaFreeAsync(own, w.b));
}
void allocated_elsewhere(Work& w) {
  int* own;
  CHECK(cudaMallocAsync(&own, kBytes, w.a));
  if (right) w.order(w.event, w.a, w.b);
  fill<<<4, 256, 0, w.b>>>(own, 1, kCount);
  CHECK(cudaFreeAsync(own, w.b));
}
void waits_for_another(Work& w) {
  w.run(w.a);
  CHECK(cudaStreamSynchronize(right ? w.a : w.b));
  w.up(w.b);
}
void graph(Work& w) {
  cudaGraph_t made;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(w.a, cudaStreamCaptureModeRelaxed));
  w.order(w.event, w.a, w.b);
  w.up(w.a);
  if (right) w.order(w.other, w.a, w.b);
  w.run(w.b);
  w.order(w.event, w.b, w.a);
  CHECK(cudaStreamEndCapture(w.a, &made));
  CHECK(cudaGraphInstantiate(&ready, made, 0));
  // Launches of one graph follow each other in whatever streams.
  CHECK(cudaGraphLaunch(ready, w.a));
  CHECK(cudaGraphLaunch(ready, w.b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(made));
}
/// A wait is for what was recorded when it was called.
void recorded_again(Work& w) {
  CHECK(cudaEventRecord(w.event, w.a));
  if (!right) CHECK(cudaStreamWaitEvent(w.b, w.event, 0));
  w.up(w.a);
  CHECK(cudaEventRecord(w.event, w.a));
  if (right) CHECK(cudaStreamWaitEvent(w.b, w.event, 0));
  w.run(w.b);
}
void atomics(Work& w) {
  count<<<4, 256, 0, w.a>>>(w.x);
  if (right)
    count<<<4, 256, 0, w.b>>>(w.x);
  else
    clear<<<1, 1, 0, w.b>>>(w.x);
}
/// The host does not wait for a copy on the device.
void copy_on_device(Work& w) {
  CHECK(cudaMemcpy(w.x, w.y, kBytes, cudaMemcpyDeviceToDevice));
  if (right) CHECK(cudaDeviceSynchronize());
  fill<<<4, 256, 0, w.a>>>(w.y, 3, kCount);
}
/// The memory of a copy of the host's is used again.
void host_buffer(Work& w) {
  w.down(w.a);
  if (right) CHECK(cudaEventRecord(w.event, w.a));
  if (right) CHECK(cudaEventSynchronize(w.event));
  w.up(w.b);
}
void rows(Work& w) {
  CHECK(cudaMemset2DAsync(w.x, 40, 1, 20, 10, w.a));
  CHECK(cudaMemset2DAsync(w.x + (right ? 5 : 4), 40, 2, 20, 10, w.b));
}

constexpr void (*kCases[])(Work&) = {
    upload,         download, recorded_early, another_event,       memset_on_default, one_target,
    refill,         freed_elsewhere, allocated_elsewhere, waits_for_another, graph,  recorded_again,
    atomics,        copy_on_device,  host_buffer,         rows};
constexpr int kCases_count = sizeof kCases / sizeof *kCases;

}  // namespace

int main(int argc, char** argv) {
  right = argc < 2 || std::strcmp(argv[1], "right") == 0;
  for (int i = 0; i < kCases_count; ++i) {
    if (argc > 2 && std::atoi(argv[2]) != i) continue;
    Work work;
    kCases[i](work);
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("stream_order: ok\n");
}
