// nvcc -arch=sm_75 -ptx -o own.ptx own.cu
extern "C" {
__global__ void stencil(const float* a, float* b, int w, int h) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int i = y * w + x;
  b[i] = 0.5f * a[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
}

// Inclusive sums of each group's 256 words.
__global__ void scan(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[256];
  const unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
  unsigned v = a[i];
  s[t] = v;
  __syncthreads();
#pragma unroll 1
  for (unsigned k = 1; k < 256; k *= 2) {
    const unsigned left = t >= k ? s[t - k] : 0;
    __syncthreads();
    v += left;
    s[t] = v;
    __syncthreads();
  }
  b[i] = v;
}

// Counts, maxima and bits of scattered keys.
__global__ void atomics(const unsigned* a, unsigned* b, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const unsigned key = a[i] & 1023;
  atomicAdd(&b[key], 1u);
  atomicMax(&b[1024 + key], (unsigned)i);
  const unsigned old = atomicOr(&b[2048 + key], 1u << (i & 31));
  if (old == 0xffffffffu) atomicAdd(&b[3072], 1u);
}
}
