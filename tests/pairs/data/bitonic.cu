// Bitonic sort of signed and unsigned 64-bit keys and of doubles in shared memory.
template <typename T> __device__ void sort(T* data) {
  __shared__ T s[256];
  const unsigned t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  for (unsigned k = 2; k <= 256; k <<= 1)
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      const unsigned other = t ^ j;
      if (other > t) {
        const T a = s[t], b = s[other];
        if ((a > b) == ((t & k) == 0)) {
          s[t] = b;
          s[other] = a;
        }
      }
    }
  __syncthreads();
  data[blockIdx.x * 256 + t] = s[t];
}
extern "C" __global__ void sort_i64(long long* d) { sort(d); }
extern "C" __global__ void sort_u64(unsigned long long* d) { sort(d); }
extern "C" __global__ void sort_f64(double* d) { sort(d); }
