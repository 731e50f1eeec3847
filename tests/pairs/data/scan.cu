// Prefix sums: a block with two buffers (Hillis and Steele), in place (Blelloch), and by warps.
extern "C" __global__ void inclusive(const unsigned* in, unsigned* out) {
  __shared__ unsigned s[2][256];
  const int t = threadIdx.x;
  int cur = 0;
  s[0][t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    s[cur ^ 1][t] = s[cur][t] + (t >= d ? s[cur][t - d] : 0);
    cur ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[cur][t];
}
extern "C" __global__ void exclusive(const unsigned* in, unsigned* out) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  int offset = 1;
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[255] = 0;
  for (int d = 1; d < 256; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      const unsigned x = s[a];
      s[a] = s[b];
      s[b] += x;
    }
  }
  __syncthreads();
  out[2 * t] = s[2 * t];
  out[2 * t + 1] = s[2 * t + 1];
}
extern "C" __global__ void by_warps(const int* in, int* out) {
  __shared__ int sums[8];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  int v = in[t];
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const int x = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += x;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0 && lane < 8) {
    int s = sums[lane];
    for (int d = 1; d < 8; d <<= 1) {
      const int x = __shfl_up_sync(0xff, s, d, 8);
      if (lane >= d) s += x;
    }
    sums[lane] = s;
  }
  __syncthreads();
  out[t] = v + (warp > 0 ? sums[warp - 1] : 0);
}
