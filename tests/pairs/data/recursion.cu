// Functions that call themselves, with an array in every frame: by CAL where the compiler sees both
// ends, and in relocatable code within a function's own section.
__device__ __noinline__ unsigned walk(unsigned x, unsigned depth) {
  unsigned own[6];
  for (unsigned k = 0; k < 6; k++) own[k] = x * (k + 1) + depth;
  if (depth == 0) return own[x % 6];
  unsigned sum = walk(own[x % 6], depth - 1);
  if (x & 1) sum += 3 * walk(own[(x >> 1) % 6], depth - 1);
  return sum + own[sum % 6];
}

extern "C" __global__ void walks(const unsigned* a, unsigned* out) {
  unsigned i = threadIdx.x;
  out[i] = walk(a[i], i % 7);
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

extern "C" __global__ void deep(unsigned* out) {
  unsigned i = threadIdx.x;
  out[i] = ackermann(i % 3, i % 5);
}
