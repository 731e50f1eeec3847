// Copies and fills of one to three dimensions, symbols, arrays, memory in stream order.
#include "check.h"
__device__ int numbers[64];
__constant__ double factor = 2.5;
__global__ void scale(int* out) { out[threadIdx.x] = static_cast<int>(numbers[threadIdx.x] * factor); }
__global__ void touch(char* base, size_t pitch, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height) base[y * pitch + x] += 1;
}
// Its destructor runs behind main, when much has been destroyed.
struct Global {
  int* memory = nullptr;
  ~Global() {
    if (cudaFree(memory) != cudaSuccess || cudaFree(this) == cudaSuccess) std::printf("the destructor's call is WRONG\n");
  }
} global;
int main() {
  MUST(cudaMalloc(&global.memory, 100));
  std::vector<int> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = i;
  MUST(cudaMemcpyToSymbol(numbers, in.data(), 32 * 4));
  MUST(cudaMemcpyToSymbol(numbers, in.data() + 32, 32 * 4, 32 * 4));
  int* d;
  MUST(cudaMalloc(&d, 64 * 4));
  scale<<<1, 64>>>(d);
  MUST(cudaMemcpy(out.data(), d, 64 * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) expect("scaled", out[i], static_cast<int>(i * 2.5));
  const double three = 3;
  MUST(cudaMemcpyToSymbol(factor, &three, sizeof three));
  scale<<<1, 64>>>(d);
  MUST(cudaMemcpyToSymbol(numbers, d, 64 * 4, 0, cudaMemcpyDeviceToDevice));
  MUST(cudaMemcpyFromSymbol(out.data(), numbers, 60 * 4, 4 * 4));
  for (int i = 0; i < 60; ++i) expect("from the symbol", out[i], (i + 4) * 3);
  size_t size = 0;
  MUST(cudaGetSymbolSize(&size, numbers));
  expect("size", size, 256u);
  const int width = 100, height = 7, depth = 3;
  char* rows;
  size_t pitch;
  MUST(cudaMallocPitch(&rows, &pitch, width, height));
  expect("pitch", pitch >= width && pitch % 32 == 0, true);
  std::vector<char> picture(width * height), back(width * height, 9);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<char>(i % 50);
  MUST(cudaMemset2D(rows, pitch, 77, pitch, height));
  MUST(cudaMemcpy2D(rows, pitch, picture.data(), width, width, height, cudaMemcpyHostToDevice));
  touch<<<height, 128>>>(rows, pitch, width, height);
  MUST(cudaMemcpy2D(back.data(), width, rows, pitch, width, height, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < picture.size(); ++i) expect("picture", back[i], picture[i] + 1);
  if (pitch > width) {
    char beside = 0;
    MUST(cudaMemcpy(&beside, rows + width, 1, cudaMemcpyDeviceToHost));
    expect("beside", beside, 77);
  }
  cudaPitchedPtr box;
  const cudaExtent extent = make_cudaExtent(width, height, depth);
  MUST(cudaMalloc3D(&box, extent));
  MUST(cudaMemset3D(box, 5, extent));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(picture.data(), width, width, height);
  p.dstPtr = box;
  p.dstPos = make_cudaPos(0, 0, 1);
  p.extent = make_cudaExtent(width, height, 1);
  p.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&p));
  std::vector<char> all(width * height * depth);
  cudaMemcpy3DParms q = {};
  q.srcPtr = box;
  q.dstPtr = make_cudaPitchedPtr(all.data(), width, width, height);
  q.extent = extent;
  q.kind = cudaMemcpyDeviceToHost;
  MUST(cudaMemcpy3D(&q));
  for (int z = 0; z < depth; ++z)
    for (int i = 0; i < width * height; ++i) expect("box", all[z * width * height + i], z == 1 ? picture[i] : 5);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  MUST(cudaMallocArray(&array, &format, 20, 6));
  std::vector<float> values(240), read(240);
  for (int i = 0; i < 240; ++i) values[i] = i;
  MUST(cudaMemcpy2DToArray(array, 0, 0, values.data(), 160, 160, 6, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy2DFromArray(read.data(), 80, array, 80, 3, 80, 3, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 20; ++x) expect("array", read[y * 20 + x], values[(y + 3) * 40 + 20 + x]);
  cudaChannelFormatDesc found;
  cudaExtent elements;
  MUST(cudaArrayGetInfo(&found, &elements, nullptr, array));
  expect("format", found.x == 32 && found.y == 32 && found.z == 0 && elements.width == 20, true);
  MUST(cudaFreeArray(array));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  int* later;
  MUST(cudaMallocAsync(&later, 256, stream));
  MUST(cudaMemcpyAsync(later, in.data(), 256, cudaMemcpyHostToDevice, stream));
  MUST(cudaMemcpyAsync(d, later, 256, cudaMemcpyDeviceToDevice, stream));
  MUST(cudaFreeAsync(later, stream));
  MUST(cudaMemsetAsync(d, 1, 8, stream));
  MUST(cudaMemcpyAsync(out.data(), d, 256, cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamSynchronize(stream));
  for (int i = 0; i < 64; ++i) expect("stream order", out[i], i < 2 ? 0x01010101 : i);
  MUST(cudaMemcpy(d + 1, d, 200, cudaMemcpyDeviceToDevice));
  MUST(cudaMemcpy(out.data(), d, 256, cudaMemcpyDefault));
  expect("overlap", out[40], 39);
  size_t free = 0, total = 0;
  MUST(cudaMemGetInfo(&free, &total));
  expect("memory", free < total && free > 0, true);
  return done("copies");
}
