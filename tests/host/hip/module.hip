// Kernels of hip_module and hip_references; build.sh makes a bundle of them.
#include <hip/hip_runtime.h>

__device__ int offset = 5;

struct Mixed {
  char letter;
  double number;
  short small;
};
extern "C" __global__ void mixed(Mixed m, char c, long long* out) {
  out[0] = m.letter, out[1] = static_cast<long long>(m.number), out[2] = m.small, out[3] = c;
}
extern "C" __global__ void scale(int* data, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * by + offset;
}

texture<unsigned char, hipTextureType2D, hipReadModeNormalizedFloat> photo;
extern "C" __global__ void fetch(float* out, int width) {
  out[threadIdx.y * width + threadIdx.x] = tex2D(photo, threadIdx.x + 0.5F, threadIdx.y + 0.5F);
}
