// Relocatable device code: functions with sections of their own, called from kernels and from each
// other, variables, shared memory with and without a size.
__device__ int table[4] = {10, 200, 3000, 40000};
extern __shared__ int unsized[];
__device__ __noinline__ int helper(int x) { return x * 3 + 1; }
__device__ __noinline__ int second(int x, int* p) { return helper(x) + *p; }
__device__ __noinline__ double root(double x, int n) {
  double r = x;
  for (int i = 0; i < n; ++i) r = 0.5 * (r + x / r);
  return r;
}
__device__ __noinline__ int stacked(const int* in, int n) {
  int mine[8];
  for (int i = 0; i < 8; ++i) mine[(i * 3) & 7] = in[i % n] + i;
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum = sum * 5 + mine[(i + n) & 7];
  return sum;
}
extern "C" __global__ void nested(const int* in, int* out) {
  const int i = threadIdx.x;
  int r = second(in[i], &table[i & 3]);
  if (i % 3 == 0) r += helper(r) - stacked(in, 1 + i % 5);
  out[i] = r + helper(i);
}
extern "C" __global__ void exchanged(const int* in, int* out) {
  __shared__ int own[32];
  const int i = threadIdx.x;
  own[i] = in[i] * 2;
  unsized[i] = in[i];
  unsized[32 + i] = -in[i];
  __syncthreads();
  out[i] = helper(unsized[i ^ 1]) + own[31 - i] * 100 + unsized[32 + (i ^ 3)];
}
extern "C" __global__ void roots(const double* in, double* out) {
  out[threadIdx.x] = root(in[threadIdx.x], 4 + (int)(threadIdx.x & 3));
}
