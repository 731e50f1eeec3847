// What printf takes: literals, strings, computed formats, widths out of arguments, more than fits.
#include <cstdio>
__device__ const char* names[3] = {"zero", "one", "two"};
__device__ __noinline__ void tell(const char* format, int a, double b) { printf(format, a, b); }
extern "C" __global__ void prints(int n, float x) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t == 0) printf("hello\n");
  __syncthreads();
  if (t < n) {
    int r = printf("%d: %s %5.2f [%-6s] %c 0x%08x %lld %u%%\n", t, names[t % 3], x * t, names[(t + 1) % 3], 'a' + t % 26,
                   0xbeef0000u + t, -1234567890123LL * t, 4000000000u + t);
    if (r != 8) printf("returned %d\n", r);
    tell(t & 1 ? "odd %d %g\n" : "even %6d|%e|\n", t, t & 1 ? x : 0.0);
  }
  if (t == 2) printf("%*d|%-*.*f|\n", 6, t, 8, 2, 0.25 * t);
  if (t == 1) { short h = -5; unsigned char c = 200; size_t s = 1ull << 40; printf("%hd %hhu %zu %p\n", h, c, s, (void*)0x1234); }
}
extern "C" __global__ void floods(int n) { for (int i = 0; i < n; ++i) printf("%d %d\n", threadIdx.x, i); }
