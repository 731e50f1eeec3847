// Several devices: each has its variables, memory, streams, properties and failures; copies between them.
#include <cstring>
#include <string>
#include <thread>

#include "check.h"

__device__ int total = 5;
__constant__ int factor = 3;
__global__ void count(const int* values, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, factor * values[i]);
}
__global__ void fill(int* out, int value) { out[threadIdx.x] = value + threadIdx.x; }
__global__ void outside(int* out) { out[1 << 20] = 1; }

static void properties(int devices) {
  std::string last;
  for (int d = 0; d < devices; ++d) {
    cudaDeviceProp p;
    MUST(cudaGetDeviceProperties(&p, d));
    char bus[32];
    int by_bus = -1, major = 0, can = -1;
    MUST(cudaDeviceGetPCIBusId(bus, sizeof bus, d));
    MUST(cudaDeviceGetByPCIBusId(&by_bus, bus));
    MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, d));
    expect("device by its bus", by_bus, d);
    expect("compute capability", major, p.major);
    MUST(cudaDeviceCanAccessPeer(&can, d, (d + 1) % devices));
    expect("peer", can, devices > 1);
    const std::string uuid(p.uuid.bytes, sizeof p.uuid.bytes);
    expect("another UUID", uuid != last, true);
    last = uuid;
    std::printf("device %d: %s, bus %d\n", d, p.name, p.pciBusID);
  }
  cudaDeviceProp none;
  expect("one too many", cudaGetDeviceProperties(&none, devices), cudaErrorInvalidDevice);
  expect("one too many", cudaSetDevice(devices), cudaErrorInvalidDevice);
  expect("before the first", cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaGetLastError();
}

/// Variables of the module are each device's own.
static void variables(int devices) {
  for (int d = 0; d < devices; ++d) {
    MUST(cudaSetDevice(d));
    const int three[3] = {d, 10, 20}, by = d + 2;
    int* on_device = nullptr;
    MUST(cudaMalloc(&on_device, sizeof three));
    MUST(cudaMemcpy(on_device, three, sizeof three, cudaMemcpyHostToDevice));
    if (d != 0) MUST(cudaMemcpyToSymbol(factor, &by, sizeof by));
    count<<<1, 32>>>(on_device, 3);
    cudaPointerAttributes a;
    MUST(cudaPointerGetAttributes(&a, on_device));
    expect("whose memory", a.device, d);
  }
  for (int d = 0; d < devices; ++d) {
    int found = 0;
    MUST(cudaSetDevice(d));
    MUST(cudaMemcpyFromSymbol(&found, total, sizeof found));
    expect("total", found, 5 + (d == 0 ? 3 : d + 2) * (30 + d));
  }
}

static void peers() {
  int *first = nullptr, *second = nullptr, host[64];
  cudaStream_t streams[2];
  cudaEvent_t filled;
  size_t before = 0, after = 0, all = 0;
  MUST(cudaSetDevice(1));
  MUST(cudaMemGetInfo(&before, &all));
  MUST(cudaSetDevice(0));
  MUST(cudaMalloc(&first, sizeof host));
  MUST(cudaStreamCreate(&streams[0]));
  MUST(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  MUST(cudaSetDevice(1));
  MUST(cudaMemGetInfo(&after, &all));
  expect("memory of the other device", after, before);
  MUST(cudaMalloc(&second, sizeof host));
  MUST(cudaMemGetInfo(&after, &all));
  expect("memory of its own", after < before, true);
  MUST(cudaStreamCreate(&streams[1]));
  MUST(cudaDeviceEnablePeerAccess(0, 0));
  expect("peer again", cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  expect("peer of itself", cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  MUST(cudaDeviceDisablePeerAccess(0));
  expect("no peer", cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  cudaGetLastError();
  // A kernel needs a stream of its device; copies and waits do not.
  fill<<<1, 64, 0, streams[0]>>>(second, 0);
  expect("the other device's stream", cudaGetLastError(), cudaErrorInvalidResourceHandle);
  expect("the other device's event", cudaEventRecord(filled, streams[1]), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  MUST(cudaSetDevice(0));
  fill<<<1, 64, 0, streams[0]>>>(first, 100);
  MUST(cudaEventRecord(filled, streams[0]));
  MUST(cudaStreamWaitEvent(streams[1], filled, 0));
  MUST(cudaMemcpyPeerAsync(second, 1, first, 0, sizeof host, streams[1]));
  MUST(cudaMemcpyAsync(host, second, sizeof host, cudaMemcpyDefault, streams[1]));
  MUST(cudaStreamSynchronize(streams[1]));
  for (int i = 0; i < 64; ++i) expect("copied", host[i], 100 + i);
  cudaMemcpy3DPeerParms rows = {};
  rows.srcPtr = make_cudaPitchedPtr(first, 32, 32, 8), rows.srcDevice = 0;
  rows.dstPtr = make_cudaPitchedPtr(second, 16, 16, 8), rows.dstDevice = 1;
  rows.extent = make_cudaExtent(16, 8, 1);
  MUST(cudaMemcpy3DPeer(&rows));
  MUST(cudaMemcpy(host, second, sizeof host, cudaMemcpyDefault));
  expect("row 7 of 3D", host[4 * 7 + 1], 100 + 8 * 7 + 1);
  expect("to a device that is not there", cudaMemcpyPeer(second, 7, first, 0, 4), cudaErrorInvalidDevice);
  cudaGetLastError();
  int device = -1;
  MUST(cudaStreamGetDevice(streams[1], &device));
  expect("device of the stream", device, 1);
  // A graph that was captured on one device is launched on it, whatever the thread's device is.
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  fill<<<1, 64, 0, streams[0]>>>(first, 7);
  MUST(cudaStreamEndCapture(streams[0], &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaSetDevice(1));
  MUST(cudaGraphLaunch(ready, streams[0]));
  MUST(cudaMemcpy(host, first, sizeof host, cudaMemcpyDefault));
  expect("by the graph", host[5], 12);
  MUST(cudaFree(first));  // of the other device
}

/// A device is the thread's.
static void threads() {
  MUST(cudaSetDevice(1));
  int other = -1, mine = -1;
  std::thread([&] { cudaGetDevice(&other); }).join();
  MUST(cudaGetDevice(&mine));
  expect("of a new thread", other, 0);
  expect("of this one", mine, 1);
}

static void failure() {
  int *first = nullptr, *second = nullptr, host = 0;
  MUST(cudaSetDevice(0));
  MUST(cudaMalloc(&first, 256));
  MUST(cudaSetDevice(1));
  MUST(cudaMalloc(&second, 256));
  outside<<<1, 1>>>(second);
  expect("fault", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect("it stays", cudaMalloc(&second, 4), cudaErrorIllegalAddress);
  cudaGetLastError();
  // The other device goes on, and keeps its memory when the one that failed is reset.
  MUST(cudaSetDevice(0));
  fill<<<1, 32>>>(first, 40);
  MUST(cudaDeviceSynchronize());
  expect("back again", cudaSetDevice(1), cudaErrorIllegalAddress);
  MUST(cudaDeviceReset());
  cudaGetLastError();
  int value = 0;
  MUST(cudaMemcpyFromSymbol(&value, total, sizeof value));
  expect("the variable begins again", value, 5);
  MUST(cudaSetDevice(0));
  MUST(cudaMemcpy(&host, first + 2, sizeof host, cudaMemcpyDeviceToHost));
  expect("kept", host, 42);
  MUST(cudaMemcpyFromSymbol(&value, total, sizeof value));
  expect("kept", value, 5 + 3 * 30);
}

int main(int argc, char** argv) {
  int devices = 0;
  MUST(cudaGetDeviceCount(&devices));
  properties(devices);
  if (argc > 1) return done("devices");
  variables(devices);
  if (devices > 1) {
    peers();
    threads();
    failure();
  }
  return done("devices");
}
