// What checks find in whole programs: "costs" has a line for each rule of --check perf; "wrong N" hands the host bytes
// that nobody has written, "right N" is its near miss. Without arguments all of those that are right run.
#include <cstdlib>
#include <cstring>

#include "check.h"

namespace {

constexpr int kThreads = 64, kCount = 256;

__global__ void costs(const int* from, int* to, int* sum) {
  __shared__ int tile[2 * kThreads];
  int own[8];
  const int i = threadIdx.x;
  tile[2 * i] = from[2 * i];
  __syncthreads();
  for (int k = 0; k < 8; ++k) own[(i + k) & 7] = k;
  if (i & 1) atomicAdd(sum, own[i & 7]);
  to[i] = tile[2 * ((i + 1) & (kThreads - 1))];
}

__global__ void fill(int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i;
}

struct Item {
  char c;
  alignas(16) double d;
};
__global__ void make_items(Item* to) {
  to[threadIdx.x].c = 'x';
  to[threadIdx.x].d = threadIdx.x;
}

struct Memory {
  int* device;
  int host[kCount];
  explicit Memory(int count = kCount) { CHECK(cudaMalloc(&device, count * sizeof(int))); }
  ~Memory() { CHECK(cudaFree(device)); }
};

/// The last threads of the grid are missing.
void short_grid(bool right) {
  Memory m;
  fill<<<right ? 4 : 3, kThreads>>>(m.device, kCount);
  CHECK(cudaMemcpy(m.host, m.device, sizeof(m.host), cudaMemcpyDeviceToHost));
}
/// A result of one word.
void no_result(bool right) {
  Memory m(1);
  if (right) fill<<<1, 1>>>(m.device, 1);
  CHECK(cudaMemcpy(m.host, m.device, sizeof(int), cudaMemcpyDeviceToHost));
}
/// Bytes that nobody has written, by way of another allocation.
void copied(bool right) {
  Memory a, b;
  fill<<<right ? 4 : 2, kThreads>>>(a.device, kCount);
  CHECK(cudaMemcpy(b.device, a.device, sizeof(a.host), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpyAsync(b.host, b.device, sizeof(b.host), cudaMemcpyDeviceToHost, 0));
  CHECK(cudaDeviceSynchronize());
}
/// Rows with a gap behind them: right copies the rows alone.
void rows(bool right) {
  char* device = nullptr;
  size_t pitch = 0;
  static char host[8 * 1024];
  CHECK(cudaMallocPitch(&device, &pitch, 100, 8));
  CHECK(cudaMemset2D(device, pitch, 1, 100, 8));
  CHECK(cudaMemcpy2D(host, 1024, device, pitch, right ? 100 : 200, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
}
/// Padding of structs is no mistake; items that nobody has made are one.
void items(bool right) {
  Item *device = nullptr, host[32];
  CHECK(cudaMalloc(&device, sizeof(host)));
  make_items<<<1, right ? 32 : 31>>>(device);
  CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
}

void (*const kCases[])(bool) = {short_grid, no_result, copied, rows, items};
constexpr int kCaseCount = sizeof(kCases) / sizeof(kCases[0]);

void run_costs() {
  Memory from, to, sum;
  CHECK(cudaMemset(from.device, 0, sizeof(from.host)));
  CHECK(cudaMemset(sum.device, 0, sizeof(sum.host)));
  for (int i = 0; i < 3; ++i) costs<<<2, kThreads>>>(from.device, to.device, sum.device);
  CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "costs") == 0) {
    run_costs();
    return 0;
  }
  const bool right = argc < 2 || std::strcmp(argv[1], "right") == 0;
  for (int i = 0; i < kCaseCount; ++i)
    if (argc < 3 || std::atoi(argv[2]) == i) kCases[i](right);
  if (argc < 2) return done("dev_checks");
  return 0;
}
