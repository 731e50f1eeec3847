// The game of life on a torus: a graph of two steps, launched again and again, and 2D copies.
#include "check.h"
const int side = 64;
__global__ void step(const unsigned char* in, unsigned char* out, size_t pitch) {
  __shared__ unsigned char tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256)
    tile[i / 18][i % 18] = in[(blockIdx.y * 16 + i / 18 + side - 1) % side * pitch + (blockIdx.x * 16 + i % 18 + side - 1) % side];
  __syncthreads();
  int near = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) near += tile[threadIdx.y + dy][threadIdx.x + dx];
  const int alive = tile[threadIdx.y + 1][threadIdx.x + 1];
  out[y * pitch + x] = near == 3 || (alive && near == 4);
}
int main() {
  std::vector<unsigned char> cells(side * side), found(side * side);
  for (auto& c : cells) c = random_number() >> 30 == 0;
  unsigned char *a, *b;
  size_t pitch;
  MUST(cudaMallocPitch(&a, &pitch, side, side));
  MUST(cudaMallocPitch(&b, &pitch, side, side));
  MUST(cudaMemcpy2D(a, pitch, cells.data(), side, side, side, cudaMemcpyHostToDevice));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step<<<dim3(4, 4), dim3(16, 16), 0, stream>>>(a, b, pitch);
  step<<<dim3(4, 4), dim3(16, 16), 0, stream>>>(b, a, pitch);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  for (int i = 0; i < 10; ++i) MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaMemcpy2DAsync(found.data(), side, a, pitch, side, side, cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamSynchronize(stream));
  for (int i = 0; i < 20; ++i) {
    std::vector<unsigned char> later(cells.size());
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        int near = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) near += cells[(y + dy + side) % side * side + (x + dx + side) % side];
        later[y * side + x] = near == 3 || (cells[y * side + x] && near == 4);
      }
    cells = later;
  }
  for (int i = 0; i < side * side; ++i) expect("cell", found[i], cells[i]);
  return done("life");
}
