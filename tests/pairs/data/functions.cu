// Functions that are not inlined: many arguments, pointers into local and shared memory, doubles,
// calls in loops and branches, calls of calls, pointers to functions.
__device__ __noinline__ int many(int a, int b, int c, int d, int e, int f, int g, int h, long long i,
                                 double j) {
  return a - b * c + d / (e | 1) - (f ^ g) + (h << 2) + (int)(i >> 8) + (int)j;
}
__device__ __noinline__ void swap(int* a, int* b) {
  const int t = *a;
  *a = *b;
  *b = t;
}
__device__ __noinline__ int power(int x, int n) {
  int r = 1;
  for (; n > 0; n >>= 1, x *= x)
    if (n & 1) r *= x;
  return r;
}
__device__ __noinline__ int sum_of_powers(int x, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += power(x + i, i);
  return s;
}
__device__ __noinline__ double series(double x, int n) {
  double term = 1, sum = 1;
  for (int i = 1; i < n; ++i) sum += term *= x / i;
  return sum;
}
extern "C" __global__ void calls(const int* in, int* out, double* reals, int n) {
  __shared__ int box[64];
  const int t = threadIdx.x;
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = in[t] >> i;
  for (int i = 0; i < 4; ++i) swap(&local[i], &local[7 - i]);
  box[t] = local[t & 7];
  __syncthreads();
  if (t < 32) swap(&box[t], &box[63 - t]);
  __syncthreads();
  int r = many(t, in[t], 3, box[t], local[1], 6, local[7], 8, (long long)in[t] << 9, 2.75 * t);
  r += in[t] & 1 ? power(in[t], 5) : sum_of_powers(in[t] & 15, 6);
  out[t] = r;
  out[n + t] = box[t];
  reals[t] = series(in[t] * 0.001, 5 + (t & 3));
}
typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ Operation operations[4] = {add, subtract, multiply, larger};
extern "C" __global__ void pointers(const int* which, const int* a, const int* b, int* out) {
  const int i = threadIdx.x;
  out[i] = operations[which[i] & 3](a[i], b[i]);
}
