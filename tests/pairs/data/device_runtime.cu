// Calls of the device runtime that few threads come to.
#include <cassert>
#include <cstdio>
extern "C" __global__ void prints(const int* in, int* out) {
  const int i = threadIdx.x;
  if (in[i] > 1000) printf("%d is large: %f\n", in[i], 0.5 * in[i]);
  out[i] = in[i] + 1;
}
extern "C" __global__ void asserts(const int* in, int* out) {
  const int i = threadIdx.x;
  assert(in[i] <= 1000);
  out[i] = in[i] * 2;
}
extern "C" __global__ void allocates(const int* in, int* out) {
  const int i = threadIdx.x;
  int small[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int n = in[i] > 1000 ? in[i] : 8;
  int* p = n > 8 ? (int*)malloc(n * sizeof(int)) : small;
  p[i & 7] += in[i];
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum = sum * 3 + p[k];
  out[i] = sum;
  if (n > 8) free(p);
}
