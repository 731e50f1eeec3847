// Strings that are gone, or other ones, when the launch ends; a format chosen at run time; more arguments than
// printf takes.
#include <cstdio>
__device__ char numbers[64][16];
extern "C" __global__ void strings(int chosen) {
  __shared__ char group[64][8];
  char own[12];
  const int t = threadIdx.x;
  for (int i = 0; i < 7; ++i) group[t][i] = 'a' + (t + i) % 26;
  group[t][t % 7] = 0;
  for (int i = 0; i < 11; ++i) own[i] = 'A' + (t + 2 * i) % 26;
  own[t * 3 % 11] = 0;
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < 10; ++i) numbers[t][i] = '0' + (r * 3 + i) % 10;
    numbers[t][r + 1] = 0;
    printf("%d %d [%s] [%5s] [%-6.3s] %s %.2f\n", t, r, group[t], own, numbers[t], (const char*)0, 1.5 * r);
  }
  const int n = printf(chosen ? "A %s %d %s\n" : "B %s %d\n", own, t, group[t]);
  if (n != (chosen ? 3 : 2)) printf("returned %d\n", n);
}
extern "C" __global__ void many(int a) {
  const int n = printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
         "%d %*d %5d|%s %%\n", a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10, a + 11, a + 12,
         a + 13, a + 14, a + 15, a + 16, a + 17, a + 18, a + 19, a + 20, a + 21, a + 22, a + 23, a + 24, a + 25, a + 26,
         a + 27, a + 28, a + 29, a + 30, a + 31, a + 32, a + 33, "x");
  printf("%d\n", n);
}
