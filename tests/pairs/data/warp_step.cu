// Warp-synchronous programs as they were written before __syncwarp: nothing but the warp's step puts
// the accesses of its lanes in order.
// nvcc -ptx -arch=sm_50 -fmad=false; nvcc -cubin -arch=sm_50 -fmad=false (11.8)
#define KERNEL extern "C" __global__ void

// The last six steps of a reduction.
KERNEL reduce_last_warp(const int* in, int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = in[i] + in[i + 128];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile int* v = s;
    for (int d = 32; d > 0; d /= 2) v[t] += v[t + d];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Inclusive sums; no lane takes part in all steps.
KERNEL scan_warp(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x, lane = t & 31;
  s[t] = in[t];
  for (int d = 1; d < 32; d *= 2)
    if (lane >= d) s[t] += s[t - d];
  out[t] = s[t];
}

// A lane of each pair swaps the two, the other looks on.
KERNEL sort_warp(const int* in, int* out) {
  __shared__ volatile int s[32];
  const int t = threadIdx.x;
  s[t] = in[t];
  for (int k = 2; k <= 32; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      const int x = t ^ j;
      if (x <= t) continue;
      const int a = s[t], b = s[x];
      if ((a > b) != ((t & k) == 0)) continue;
      s[t] = b;
      s[x] = a;
    }
  out[t] = s[t];
}

// Counters that lanes tag: who finds its own tag has counted.
KERNEL count_by_tag(const unsigned char* in, int n, unsigned* out) {
  __shared__ unsigned counters[512];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 64) counters[i] = 0;
  __syncthreads();
  volatile unsigned* mine = counters + t / 32 * 256;
  const unsigned tag = t << 27;
  for (int i = t; i < n; i += 64) {
    unsigned c;
    do {
      c = mine[in[i]] & 0x07ffffffu;
      c = tag | (c + 1);
      mine[in[i]] = c;
    } while (mine[in[i]] != c);
  }
  __syncthreads();
  for (int i = t; i < 256; i += 64)
    out[i] = (counters[i] & 0x07ffffffu) + (counters[i + 256] & 0x07ffffffu);
}

// Half a warp adds up while the other half has gone on to the barrier.
KERNEL half_a_warp(const int* in, int* out) {
  __shared__ volatile int s[32];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 16) {
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  __syncthreads();
  if (t == 0) out[0] = s[0];
}

// Locks in shared and in global memory: one lane has them while the others of its warp try.
KERNEL count_by_lock(unsigned* out) {
  __shared__ unsigned lock;
  __shared__ volatile unsigned count;
  const int t = threadIdx.x;
  if (t == 0) lock = count = 0;
  __syncthreads();
  for (bool done = false; !done;)
    if (atomicCAS(&lock, 0, 1) == 0) {
      count = count + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  __syncthreads();
  if (t == 0) out[0] = count;
}
KERNEL add_by_lock(unsigned* lock, volatile unsigned* sum) {
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      *sum = *sum + threadIdx.x;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}
