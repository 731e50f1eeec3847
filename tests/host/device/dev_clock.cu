// Clocks that go on, sleep, and strings that threads build in memory of their own.
#include "check.h"

__global__ void clocks(long long* out) {
  const long long begin = clock64();
  const clock_t low = clock();
  unsigned long long time, later;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
#if __CUDA_ARCH__ >= 700
  __nanosleep(100);
#endif
  int sum = 0;
  for (int i = 0; i < 50; ++i) sum += i * static_cast<int>(threadIdx.x);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
  out[2 * threadIdx.x] = clock64() - begin + (sum < 0) + (low < 0);
  out[2 * threadIdx.x + 1] = static_cast<long long>(later - time);
}
__global__ void words(char** out, int* lengths) {
  const int t = threadIdx.x, n = 5 + t % 11;
  char* text = static_cast<char*>(malloc(n + 1));
  memset(text, 'a' + t % 26, n);
  text[n] = '\0';
  char* twice = static_cast<char*>(malloc(2 * n + 1));
  memcpy(twice, text, n);
  memcpy(twice + n, text, n + 1);
  free(text);
  out[t] = twice, lengths[t] = 2 * n;
}
__global__ void take(char** texts, char* out, const int* lengths) {
  for (int i = 0; i <= lengths[threadIdx.x]; ++i) out[threadIdx.x * 40 + i] = texts[threadIdx.x][i];
  free(texts[threadIdx.x]);
}

int main() {
  const int n = 64;
  long long* times;
  char **texts, *out;
  int* lengths;
  CHECK(cudaMallocManaged(&times, 2 * n * sizeof(long long)));
  CHECK(cudaMallocManaged(&out, 40 * n));
  CHECK(cudaMallocManaged(&lengths, n * sizeof(int)));
  CHECK(cudaMalloc(&texts, n * sizeof(char*)));
  clocks<<<1, n>>>(times);
  words<<<1, n>>>(texts, lengths);
  take<<<1, n>>>(texts, out, lengths);
  CHECK(cudaDeviceSynchronize());
  for (int t = 0; t < n; ++t) {
    REQUIRE(times[2 * t] > 0 && times[2 * t + 1] >= 0);
    REQUIRE(lengths[t] == 2 * (5 + t % 11) && out[40 * t] == 'a' + t % 26 && out[40 * t + lengths[t] - 1] == out[40 * t]);
    REQUIRE(out[40 * t + lengths[t]] == '\0');
  }
  std::puts("dev_clock: ok");
}
