// Two halves of a grid, each in a stream of its own; halos go from one to the other behind events.
#include "check.h"
const int width = 64, rows = 16;  // of a half, without its two halo rows
__global__ void relax(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1;
  if (x >= width - 1) return;
  const int i = y * width + x;
  out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
int main() {
  const int cells = (rows + 2) * width, steps = 20;
  std::vector<float> whole((2 * rows + 2) * width), next;
  for (int x = 0; x < width; ++x) whole[x] = 1, whole[(2 * rows + 1) * width + x] = 2;
  float* half[2][2];
  cudaStream_t stream[2];
  cudaEvent_t relaxed[2], copied[2];
  for (int h = 0; h < 2; ++h) {
    MUST(cudaStreamCreate(&stream[h]));
    MUST(cudaEventCreateWithFlags(&relaxed[h], cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&copied[h], cudaEventDisableTiming));
    for (float*& buffer : half[h]) {
      MUST(cudaMalloc(&buffer, cells * 4));
      MUST(cudaMemcpy(buffer, whole.data() + h * rows * width, cells * 4, cudaMemcpyHostToDevice));
    }
  }
  for (int s = 0; s < steps; ++s) {
    const int in = s % 2, out = 1 - in;
    for (int h = 0; h < 2; ++h) {
      if (s > 0) MUST(cudaStreamWaitEvent(stream[h], copied[1 - h], 0));
      relax<<<dim3(width / 32, rows), 32, 0, stream[h]>>>(half[h][in], half[h][out]);
      MUST(cudaEventRecord(relaxed[h], stream[h]));
    }
    for (int h = 0; h < 2; ++h) {
      const int from = (h == 0 ? rows : 1) * width, to = (h == 0 ? 0 : rows + 1) * width;
      MUST(cudaStreamWaitEvent(stream[h], relaxed[1 - h], 0));
      MUST(cudaMemcpyAsync(half[1 - h][out] + to, half[h][out] + from, width * 4, cudaMemcpyDeviceToDevice, stream[h]));
      MUST(cudaEventRecord(copied[h], stream[h]));
    }
    next = whole;
    for (int y = 1; y <= 2 * rows; ++y)
      for (int x = 1; x < width - 1; ++x) {
        const int i = y * width + x;
        next[i] = 0.25f * (whole[i - 1] + whole[i + 1] + whole[i - width] + whole[i + width]);
      }
    std::swap(whole, next);
  }
  std::vector<float> found(cells);
  for (int h = 0; h < 2; ++h) {
    MUST(cudaStreamSynchronize(stream[h]));
    MUST(cudaMemcpy(found.data(), half[h][steps % 2], cells * 4, cudaMemcpyDeviceToHost));
    for (int i = width; i < (rows + 1) * width; ++i) expect_near("cell", found[i], whole[h * rows * width + i], 1e-6);
  }
  return done("jacobi");
}
