// Shared memory whose size the launch says, cut into arrays of several types; three dimensions.
extern "C" __global__ void cut(const int* in, double* out, int n) {
  extern __shared__ double memory[];
  double* reals = memory;
  int* numbers = (int*)(reals + n);
  unsigned char* flags = (unsigned char*)(numbers + n);
  const int t = threadIdx.x;
  numbers[t] = in[blockIdx.x * n + t];
  flags[n - 1 - t] = (unsigned char)(t * 7);
  reals[t] = numbers[t] * 0.5;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < n; i += 8) sum += reals[(t + i) % n] * flags[i] - numbers[(t * 3 + i) % n];
  out[blockIdx.x * n + t] = sum;
}
extern "C" __global__ void transpose3(const short* in, short* out) {
  extern __shared__ short tile[];
  const int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int size = blockDim.x * blockDim.y * blockDim.z;
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  tile[i] = in[block * size + i];
  __syncthreads();
  const int to = (threadIdx.x * blockDim.y + threadIdx.y) * blockDim.z + threadIdx.z;
  out[block * size + to] = tile[i];
}
extern "C" __global__ void ring(int* data, int rounds) {
  // Values move round a ring, two buffers.
  extern __shared__ int s[];
  const int t = threadIdx.x, n = blockDim.x;
  s[t] = data[t];
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    s[(r + 1) % 2 * n + (t + 1) % n] = s[r % 2 * n + t] + r;
  }
  __syncthreads();
  data[t] = s[rounds % 2 * n + t];
}
