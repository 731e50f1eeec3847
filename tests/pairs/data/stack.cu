// Memory taken from the stack at run time; dynamic shared memory by name and constants of a function,
// which relocatable code leaves to a linker.
// nvcc -ptx -arch=sm_75 -fmad=false (CUDA 13); nvcc -cubin -arch=sm_52 -fmad=false -rdc=true (11.8)
__device__ __noinline__ unsigned taken(const unsigned* in, unsigned words) {
  unsigned* box = (unsigned*)alloca(4 * words);
#pragma unroll 1
  for (unsigned i = 0; i < words; ++i) box[i] = in[i] * (i + 1);
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < words; ++i) sum = sum * 31 + box[words - 1 - i];
  return sum;
}

// What a function took is there again when it has returned: 20 times some 3,600 bytes.
extern "C" __global__ void take(const unsigned* in, unsigned* out) {
  unsigned t = threadIdx.x, sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 20; ++i) sum += taken(in + (t + i) % 64, 900 + (t + i) % 8);
  out[t] = sum;
}

extern __shared__ unsigned dynamic_words[];
extern "C" __global__ void turn(const unsigned* in, unsigned* out) {
  __shared__ unsigned own[5];
  unsigned t = threadIdx.x;
  if (t < 5) own[t] = in[t];
  dynamic_words[t] = in[t];
  __syncthreads();
  out[t] = dynamic_words[63 - t] + own[t % 5];
}

__device__ __noinline__ double curve(double x) {
  return ((x * 1.2345678901 + 0.123456789) * x - 17.0000001) * x;
}
__device__ __noinline__ double other(double x) { return x * 9.87654321 - curve(x + 0.1111); }
extern "C" __global__ void curves(const unsigned* in, double* out) {
  out[threadIdx.x] = other(in[threadIdx.x] * 0.3333333) + 1.00000007;
}
