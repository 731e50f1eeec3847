// Barriers: reductions of predicates, warps that wait for others, the last block, a lock.
extern "C" __global__ void reductions(const int* in, int* out) {
  const int v = in[threadIdx.x];
  int r = __syncthreads_count(v > 0);
  r += __syncthreads_and(v > -90) ? 1000 : 0;
  r += __syncthreads_or(v == 42) ? 10000 : 0;
  out[threadIdx.x] = r;
}
extern "C" __global__ void stages(const int* in, int* out) {
  // The first warp fills one half while the other uses the other.
  __shared__ int half[2][32];
  const int lane = threadIdx.x & 31;
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    if (threadIdx.x < 32) {
      half[k & 1][lane] = in[k * 32 + lane] * 3;
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + (k & 1)) : "memory");
      if (k < 7) asm volatile("bar.sync %0, 64;" ::"r"(3 + (k & 1)) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + (k & 1)) : "memory");
      sum = sum * 2 + half[k & 1][31 - lane];
      if (k < 7) asm volatile("bar.arrive %0, 64;" ::"r"(3 + (k & 1)) : "memory");
    }
  }
  if (threadIdx.x >= 32) out[lane] = sum;
}
extern "C" __global__ void last_block(const int* in, int* parts, unsigned* done, int* out) {
  __shared__ bool last;
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int k = 32; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += ((volatile int*)parts)[b];
    *out = sum;
  }
}
extern "C" __global__ void lock(int* mutex, int* counter, int rounds) {
  // One lane of each block takes the lock; what it guards is a plain sum.
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) {
      while (atomicCAS(mutex, 0, 1) != 0) {}
      __threadfence();
      *(volatile int*)counter = *(volatile int*)counter + (int)blockIdx.x + 1;
      __threadfence();
      atomicExch(mutex, 0);
    }
    __syncthreads();
  }
}
