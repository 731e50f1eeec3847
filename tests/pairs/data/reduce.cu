// Sums: a tree in shared memory, shuffles, and both with an atomic at the end.
extern "C" __global__ void tree(const int* in, int* out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void shuffles(const unsigned long long* in, unsigned long long* out, int n) {
  unsigned long long v = 0, m = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    v += in[i];
    m = max(m, in[i]);
  }
  for (int o = 16; o > 0; o >>= 1) {
    v += __shfl_down_sync(~0u, v, o);
    m = max(m, __shfl_xor_sync(~0u, m, o));
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(out, v);
    atomicMax(out + 1, m);
  }
}
