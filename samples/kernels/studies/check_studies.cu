// The kernels of docs/check-studies.md. Made with: nvcc -ptx -arch=sm_75 -lineinfo check_studies.cu

// A race in a reduction: a barrier stands before the loop, and none in it.
extern "C" __global__ void reduce(const float* in, float* out) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int half = 128; half > 0; half /= 2)
    if (t < half) part[t] += part[t + half];
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_in_order(const float* in, float* out) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// A copy of padding: 3 of the 8 bytes of an item are never written.
struct alignas(8) Item {
  char kind;
  int value;
};
__device__ void copy(void* to, const void* from) {
  *static_cast<long long*>(to) = *static_cast<const long long*>(from);
}
extern "C" __global__ void pack(Item* to, unsigned* found) {
  __shared__ Item items[64];
  const int t = threadIdx.x;
  items[t].kind = static_cast<char>(t % 4);
  items[t].value = t;
  __syncthreads();
  copy(&to[t], &items[63 - t]);
  if (to[t].kind == 3) atomicAdd(found, 1u);
}
// The same, but for a byte that is padding.
extern "C" __global__ void pack_wrong(Item* to, unsigned* found) {
  __shared__ Item items[64];
  const int t = threadIdx.x;
  items[t].kind = static_cast<char>(t % 4);
  items[t].value = t;
  __syncthreads();
  copy(&to[t], &items[63 - t]);
  if (reinterpret_cast<const short*>(to)[4 * t] == 3) atomicAdd(found, 1u);
}

// A tile is written by rows and read by columns.
template <int kWidth>
__device__ void turn(const float* in, float* out) {
  __shared__ float tile[32][kWidth];
#pragma unroll 1
  for (int row = threadIdx.y; row < 32; row += 8) tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int row = threadIdx.y; row < 32; row += 8) out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}
extern "C" __global__ void columns(const float* in, float* out) { turn<32>(in, out); }
extern "C" __global__ void columns_apart(const float* in, float* out) { turn<33>(in, out); }
