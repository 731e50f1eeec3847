// Assembled without optimisation: functions have stack frames and check them, and the addresses of
// constants, of shared memory and of local arrays are generic ones.
__constant__ unsigned table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

extern "C" __global__ void lookup(const unsigned* a, unsigned* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], sum = 0;
  for (unsigned k = 0; k < (x & 15); k++) sum = sum * 7 + table[(x + k) & 63];
  const unsigned* either = x & 16 ? table : a;
  out[i] = sum + either[i & 63];
}

extern "C" __global__ void mixed(const unsigned* a, unsigned* out) {
  __shared__ unsigned group[64];
  unsigned own[8];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, x = a[i];
  group[t] = x;
  for (unsigned k = 0; k < 8; k++) own[k] = x + k * k;
  __syncthreads();
  const unsigned* window = x & 1 ? &group[t ^ 1] : &own[x >> 1 & 7];
  const unsigned* any = x & 2 ? window : &a[i ^ 1];
  out[i] = *any * 3 + *window;
}

__device__ __noinline__ unsigned tree(unsigned x, unsigned depth) {
  if (depth > 3) return x * 3 + 1;
  unsigned sum = x;
  for (unsigned k = 0; k < depth; k++) sum = sum * 5 + tree(x ^ k, depth + 2);
  return sum;
}

extern "C" __global__ void grow(const unsigned* a, unsigned* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tree(a[i], a[i] & 3);
}
