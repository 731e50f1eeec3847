// A transposition through tiles in LDS, static and dynamic, in two dimensions; pitched memory.
#include "check.hpp"

constexpr int kTile = 16;

__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void reverse(int* data) {
  HIP_DYNAMIC_SHARED(int, part)
  part[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

int main() {
  const int width = 40, height = 25;
  std::vector<float> host(width * height), result(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i);
  float *in, *out;
  CHECK(hipMalloc(&in, host.size() * sizeof(float)));
  CHECK(hipMalloc(&out, host.size() * sizeof(float)));
  CHECK(hipMemcpy(in, host.data(), host.size() * sizeof(float), hipMemcpyHostToDevice));
  transpose<<<dim3(3, 2), dim3(kTile, kTile)>>>(in, out, width, height);
  CHECK(hipMemcpy(result.data(), out, result.size() * sizeof(float), hipMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) EXPECT(result[x * height + y] == host[y * width + x]);
  int *data, values[256];
  for (int i = 0; i < 256; ++i) values[i] = i;
  CHECK(hipMalloc(&data, sizeof values));
  CHECK(hipMemcpy(data, values, sizeof values, hipMemcpyHostToDevice));
  reverse<<<1, 256, sizeof values>>>(data);
  CHECK(hipMemcpy(values, data, sizeof values, hipMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) EXPECT(values[i] == 255 - i);
  void* pitched = nullptr;
  size_t pitch = 0;
  unsigned char rows[10][20] = {}, back[10][20];
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 20; ++x) rows[y][x] = static_cast<unsigned char>(x * 7 + y);
  CHECK(hipMallocPitch(&pitched, &pitch, 20, 10));
  EXPECT(pitch >= 20);
  CHECK(hipMemcpy2D(pitched, pitch, rows, 20, 20, 10, hipMemcpyHostToDevice));
  CHECK(hipMemset2D(static_cast<char*>(pitched) + 4, pitch, 0xee, 2, 3));
  CHECK(hipMemcpy2D(back, 20, pitched, pitch, 20, 10, hipMemcpyDeviceToHost));
  EXPECT(back[2][4] == 0xee && back[2][6] == rows[2][6] && back[3][4] == rows[3][4] &&
         back[9][19] == rows[9][19] && rows[9][19] == 142);
  std::puts("hip_transpose: ok");
}
