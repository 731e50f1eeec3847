// nvcc -ptx -arch=sm_75 edges.cu makes edges.ptx of this.
// A work-group of 16 x 16 threads loads its part of the picture with a border of one pixel into shared
// memory, then each thread takes the differences to both sides of its pixel (Sobel).
extern "C" __global__ void edges(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ int tile[18][18];
  const int left = blockIdx.x * 16 - 1, top = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    const int x = min(max(left + i % 18, 0), width - 1), y = min(max(top + i / 18, 0), height - 1);
    tile[i / 18][i % 18] = in[y * width + x];
  }
  __syncthreads();
  const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int c = threadIdx.x + 1, r = threadIdx.y + 1;
  const int across = tile[r - 1][c + 1] + 2 * tile[r][c + 1] + tile[r + 1][c + 1] -
                     tile[r - 1][c - 1] - 2 * tile[r][c - 1] - tile[r + 1][c - 1];
  const int down = tile[r + 1][c - 1] + 2 * tile[r + 1][c] + tile[r + 1][c + 1] -
                   tile[r - 1][c - 1] - 2 * tile[r - 1][c] - tile[r - 1][c + 1];
  out[y * width + x] = min(abs(across) + abs(down), 255);
}
