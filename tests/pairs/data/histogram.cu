// Histograms: bytes by four, private parts of shared memory, and saturating 16-bit counters.
extern "C" __global__ void bytes(const unsigned* words, unsigned* bins, int n) {
  __shared__ unsigned s[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const unsigned w = words[i];
    atomicAdd(&s[w & 255], 1);
    atomicAdd(&s[w >> 8 & 255], 1);
    atomicAdd(&s[w >> 16 & 255], 1);
    atomicAdd(&s[w >> 24], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (s[i] != 0) atomicAdd(&bins[i], s[i]);
}
extern "C" __global__ void private_bytes(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned char own[16][64];
  const int t = threadIdx.x;
  for (int b = 0; b < 16; ++b) own[b][t] = 0;
  for (int i = t; i < n; i += 64) {
    const int b = in[i] >> 4;
    if (own[b][t] < 255) ++own[b][t];
  }
  __syncthreads();
  if (t < 16) {
    unsigned sum = 0;
    for (int i = 0; i < 64; ++i) sum += own[t][i];
    bins[t] = sum;
  }
}
extern "C" __global__ void binned(const double* in, int* bins, int n, double low, double high) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  if (!(x >= low && x < high)) {
    atomicAdd(&bins[x < low ? 32 : x >= high ? 33 : 34], 1);
    return;
  }
  atomicAdd(&bins[(int)((x - low) / (high - low) * 32.0)], 1);
}
