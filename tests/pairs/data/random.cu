// Generators of random numbers: PCG, xorshift, Mersenne twister, and points in a circle.
extern "C" __global__ void pcg(const unsigned long long* seeds, unsigned* out, int n) {
  unsigned long long s = seeds[threadIdx.x];
  for (int i = 0; i < n; ++i) {
    const unsigned long long old = s;
    s = old * 6364136223846793005ull + (threadIdx.x << 1 | 1);
    const unsigned x = (unsigned)((old >> 18 ^ old) >> 27);
    const int r = (int)(old >> 59);
    out[i * blockDim.x + threadIdx.x] = x >> r | x << (-r & 31);
  }
}
extern "C" __global__ void circle(unsigned* hits, int rounds) {
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1, c = 0;
  for (int i = 0; i < rounds; ++i) {
    x ^= x << 13; x ^= x >> 17; x ^= x << 5;
    const float u = (x >> 8) * 0x1p-24f;
    x ^= x << 13; x ^= x >> 17; x ^= x << 5;
    const float v = (x >> 8) * 0x1p-24f;
    if (u * u + v * v < 1.f) ++c;
  }
  for (int o = 16; o > 0; o /= 2) c += __shfl_xor_sync(~0u, c, o);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, c);
}
extern "C" __global__ void twister(unsigned seed, unsigned* out, int n) {
  __shared__ unsigned mt[624];
  const int t = threadIdx.x;
  if (t == 0) {
    mt[0] = seed + blockIdx.x;
    for (int i = 1; i < 624; ++i) mt[i] = 1812433253u * (mt[i - 1] ^ mt[i - 1] >> 30) + i;
  }
  __syncthreads();
  if (t == 0)
    for (int i = 0; i < 624; ++i) {
      const unsigned y = (mt[i] & 0x80000000u) | (mt[(i + 1) % 624] & 0x7fffffffu);
      mt[i] = mt[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    unsigned y = mt[i];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    out[blockIdx.x * n + i] = y ^ y >> 18;
  }
}
