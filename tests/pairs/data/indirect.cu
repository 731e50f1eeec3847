// Calls through pointers to functions, taken from a table in memory or chosen, and variables that
// begin as addresses of others. Relocatable code has functions of their own: it jumps by JMX.
typedef unsigned (*Step)(unsigned);
__device__ __noinline__ unsigned next(unsigned x) { return x + 1; }
__device__ __noinline__ unsigned square(unsigned x) { return x * x; }
__device__ __noinline__ unsigned mixed(unsigned x) { return (x ^ 77) * 3; }
__device__ Step steps[3] = {next, square, mixed};

extern "C" __global__ void table(const unsigned* a, unsigned* out) {
  unsigned i = threadIdx.x, x = i;
  for (unsigned k = 0; k < 3; k++) x = steps[(a[i] + k) % 3](x);
  out[i] = x;
}

extern "C" __global__ void chosen(const unsigned* a, unsigned* out) {
  unsigned i = threadIdx.x;
  Step step = a[i] & 1 ? next : mixed;
  out[i] = step(i) + step(a[i]);
}

__device__ unsigned numbers[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ unsigned* places[3] = {numbers, numbers + 3, numbers + 7};

extern "C" __global__ void follow(const unsigned* a, unsigned* out) {
  unsigned i = threadIdx.x;
  out[i] = *places[a[i] % 3] * 100 + places[1 + (a[i] & 1)][0];
}
