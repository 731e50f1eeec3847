// Kernels of the driver API's programs; build.sh compiles them to PTX, to a fat binary and to a cubin for sm_52.
__device__ int offset = 5;
__constant__ int factors[4] = {1, 2, 3, 4};

extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void scale(int* data, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * by + offset;
}
extern "C" __global__ void reverse(int* data, int n) {
  extern __shared__ int part[];
  const int i = threadIdx.x;
  part[i] = data[i];
  __syncthreads();
  data[n - 1 - i] = part[i];
}
struct Mixed {
  char letter;
  double number;
  short small;
};
extern "C" __global__ void mixed(Mixed m, char c, long long* out) {
  out[0] = m.letter, out[1] = static_cast<long long>(m.number), out[2] = m.small, out[3] = c;
  out[4] = factors[3];
}
extern "C" __global__ void outside(int* data) {
  data[1 << 20] = 1;
}
extern "C" __global__ void sample(unsigned long long texture, unsigned long long surface, float* out, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float at = tex2D<float>(texture, x + 0.5f, y + 0.5f);
  out[y * width + x] = at;
  surf2Dwrite(2 * at + 1, surface, x * 4, y);
}
