// Memory of another device: a kernel reaches it once its own device has asked for that, and what every device shares anyway.
#include "check.h"

__managed__ int shared_by_all[4] = {10, 20, 30, 40};
__managed__ int* passed_on = nullptr;
__device__ int own = 1;

struct Box {
  int* values;
};
__global__ void sum(const int* from, int n, int* to) {
  int all = 0;
  for (int i = 0; i < n; ++i) all += from[i];
  *to = all;
}
__global__ void through(const Box* box, int* to) { *to = box->values[3]; }
__global__ void step(int by) {
  shared_by_all[threadIdx.x] += by;
  own += by;
}
__global__ void give(int* pointer) { passed_on = pointer; }
__global__ void take(int* to) { *to = *passed_on; }

static int* memory_of(int device, int value) {
  int *made = nullptr, host[4] = {value, value, value, value};
  MUST(cudaSetDevice(device));
  MUST(cudaMalloc(&made, sizeof host));
  MUST(cudaMemcpy(made, host, sizeof host, cudaMemcpyHostToDevice));
  return made;
}

static int at(const int* pointer) {
  int value = -1;
  MUST(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDefault));
  return value;
}

/// A pointer as an argument, and one that lies in memory.
static void peers() {
  int *theirs = memory_of(0, 7), *mine = memory_of(1, 0);
  Box* box = nullptr;
  const Box content = {theirs};
  MUST(cudaMalloc(&box, sizeof content));
  MUST(cudaMemcpy(box, &content, sizeof content, cudaMemcpyHostToDevice));
  MUST(cudaDeviceEnablePeerAccess(0, 0));
  sum<<<1, 1>>>(theirs, 4, mine);
  expect("by a peer", at(mine), 28);
  through<<<1, 1>>>(box, mine);
  expect("through memory", at(mine), 7);
  // Access goes one way.
  MUST(cudaSetDevice(0));
  sum<<<1, 1>>>(theirs, 4, theirs + 1);
  expect("its own", at(theirs + 1), 28);
  // Memory of a pool, pinned and managed memory are for all.
  int *pinned = nullptr, *pooled = nullptr;
  MUST(cudaMallocHost(&pinned, sizeof(int)));
  MUST(cudaMallocAsync(&pooled, sizeof(int), 0));
  MUST(cudaMemcpy(pooled, theirs, sizeof(int), cudaMemcpyDefault));
  MUST(cudaSetDevice(1));
  MUST(cudaDeviceDisablePeerAccess(0));
  sum<<<1, 1>>>(pooled, 1, pinned);
  MUST(cudaDeviceSynchronize());
  expect("of a pool, to the host's memory", *pinned, 7);
  // Copies need no access of kernels.
  MUST(cudaMemcpyPeer(mine, 1, theirs, 0, sizeof(int)));
  expect("a copy", at(mine), 7);
}

/// A managed variable is one for all devices, other variables are each device's own.
static void managed() {
  for (int device = 0; device < 2; ++device) {
    MUST(cudaSetDevice(device));
    step<<<1, 4>>>(device + 1);
    MUST(cudaDeviceSynchronize());
  }
  for (int i = 0; i < 4; ++i) expect("managed", shared_by_all[i], 10 * (i + 1) + 3);
  shared_by_all[2] = 100;
  MUST(cudaSetDevice(1));
  step<<<1, 4>>>(1);
  MUST(cudaDeviceSynchronize());
  expect("after the host", shared_by_all[2], 101);
  int found = 0, *mine = memory_of(1, 55), *to = memory_of(1, 0);
  MUST(cudaMemcpyFromSymbol(&found, own, sizeof found));
  expect("the second device's own", found > 1, true);
  give<<<1, 1>>>(mine);
  take<<<1, 1>>>(to);
  expect("a pointer that one kernel leaves for the next", at(to), 55);
  MUST(cudaSetDevice(0));
  sum<<<1, 1>>>(shared_by_all, 4, shared_by_all);
  MUST(cudaDeviceSynchronize());
  expect("by its address, on the other device", shared_by_all[0], 14 + 24 + 101 + 44);
}

static void refused(bool in_memory) {
  int *theirs = memory_of(0, 7), *mine = memory_of(1, 0);
  Box* box = nullptr;
  const Box content = {theirs};
  MUST(cudaMalloc(&box, sizeof content));
  MUST(cudaMemcpy(box, &content, sizeof content, cudaMemcpyHostToDevice));
  if (in_memory)
    through<<<1, 1>>>(box, mine);
  else
    sum<<<1, 1>>>(theirs, 4, mine);
  expect("without access", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  cudaGetLastError();
  // The other device goes on.
  MUST(cudaSetDevice(0));
  sum<<<1, 1>>>(theirs, 2, theirs);
  expect("its own", at(theirs), 14);
}

int main(int argc, char** argv) {
  int devices = 0;
  MUST(cudaGetDeviceCount(&devices));
  if (devices < 2) return done("peer_access");
  peers();
  managed();
  if (argc > 1) refused(argv[1][0] == 'm');
  return done("peer_access");
}
