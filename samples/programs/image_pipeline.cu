// Grey values, histogram in shared memory, equalisation and a blur, in a stream of each strip.
#include "check.h"
const int width = 96, height = 64, strips = 4, rows = height / strips;

__global__ void grey(const uchar4* in, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = (in[i].x * 77 + in[i].y * 151 + in[i].z * 28) >> 8;
}
__global__ void histogram(const unsigned char* in, unsigned* bins) {
  __shared__ unsigned part[256];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < width * rows; i += blockDim.x) atomicAdd(&part[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}
__global__ void equalise(const unsigned* bins, unsigned char* levels) {
  __shared__ unsigned sums[256];
  sums[threadIdx.x] = bins[threadIdx.x];
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const unsigned add = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += add;
  }
  levels[threadIdx.x] = sums[threadIdx.x] * 255 / (width * height);
}
__global__ void blur(const unsigned char* in, const unsigned char* levels, unsigned char* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += levels[in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)]];
  out[y * width + x] = sum / 9;
}

int main() {
  const int n = width * height;
  uchar4 *pixels, *d_pixels;
  MUST(cudaMallocHost(&pixels, n * sizeof(uchar4)));
  unsigned char *d_grey, *d_levels, *d_out;
  unsigned* d_bins;
  MUST(cudaMalloc(&d_pixels, n * sizeof(uchar4)));
  MUST(cudaMalloc(&d_grey, n));
  MUST(cudaMalloc(&d_out, n));
  MUST(cudaMalloc(&d_levels, 256));
  MUST(cudaMalloc(&d_bins, 256 * sizeof(unsigned)));
  for (int i = 0; i < n; ++i) {
    const unsigned r = random_number();
    pixels[i] = make_uchar4(r >> 26, i % width, r >> 24, 255);
  }
  MUST(cudaMemset(d_bins, 0, 256 * sizeof(unsigned)));
  cudaStream_t streams[strips];
  cudaEvent_t ready[strips];
  for (int s = 0; s < strips; ++s) {
    const int at = s * rows * width, size = rows * width;
    MUST(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&ready[s], cudaEventDisableTiming));
    if (s == 0) MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpyAsync(d_pixels + at, pixels + at, size * sizeof(uchar4), cudaMemcpyHostToDevice, streams[s]));
    grey<<<size / 128, 128, 0, streams[s]>>>(d_pixels + at, d_grey + at);
    histogram<<<1, 256, 0, streams[s]>>>(d_grey + at, d_bins);
    MUST(cudaEventRecord(ready[s], streams[s]));
    if (s != 0) MUST(cudaStreamWaitEvent(streams[0], ready[s], 0));
  }
  equalise<<<1, 256, 0, streams[0]>>>(d_bins, d_levels);
  blur<<<dim3(width / 16, height / 16), dim3(16, 16), 0, streams[0]>>>(d_grey, d_levels, d_out);
  std::vector<unsigned char> found(n);
  MUST(cudaMemcpyAsync(found.data(), d_out, n, cudaMemcpyDeviceToHost, streams[0]));
  MUST(cudaStreamSynchronize(streams[0]));

  std::vector<int> g(n), level(256);
  unsigned bins[256] = {}, sum = 0;
  for (int i = 0; i < n; ++i) ++bins[g[i] = (pixels[i].x * 77 + pixels[i].y * 151 + pixels[i].z * 28) >> 8];
  for (int i = 0; i < 256; ++i) level[i] = (sum += bins[i]) * 255 / n;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int all = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          all += level[g[std::min(std::max(y + dy, 0), height - 1) * width + std::min(std::max(x + dx, 0), width - 1)]];
      expect("pixel", found[y * width + x], all / 9);
    }
  return done("image_pipeline");
}
