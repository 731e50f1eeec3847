// Products of matrices by tiles: floats, four results a thread, and integers of 8 bits.
extern "C" __global__ void tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float x[16][17], y[16][17];
  const int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    const int kx = k + threadIdx.x, ky = k + threadIdx.y;
    x[threadIdx.y][threadIdx.x] = r < n && kx < n ? a[r * n + kx] : 0;
    y[threadIdx.y][threadIdx.x] = ky < n && q < n ? b[ky * n + q] : 0;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; ++j) sum += x[threadIdx.y][j] * y[j][threadIdx.x];
    __syncthreads();
  }
  if (r < n && q < n) c[r * n + q] = sum;
}
extern "C" __global__ void blocked(const float* a, const float* b, float* c, int n) {
  __shared__ float x[32][9], y[8][33];
  const int t = threadIdx.x, tr = t / 8 * 2, tc = t % 8 * 4;
  float acc[2][4] = {};
  for (int k = 0; k < n; k += 8) {
    for (int e = t; e < 256; e += 128) {
      x[e / 8][e % 8] = a[(blockIdx.y * 32 + e / 8) * n + k + e % 8];
      y[e / 32][e % 32] = b[(k + e / 32) * n + blockIdx.x * 32 + e % 32];
    }
    __syncthreads();
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int q = 0; q < 4; ++q) acc[r][q] = fmaf(x[tr + r][j], y[j][tc + q], acc[r][q]);
    __syncthreads();
  }
  for (int r = 0; r < 2; ++r) {
    float4 v = {acc[r][0], acc[r][1], acc[r][2], acc[r][3]};
    *(float4*)(c + (blockIdx.y * 32 + tr + r) * n + blockIdx.x * 32 + tc) = v;
  }
}
extern "C" __global__ void bytes(const char4* a, const char4* b, int* c, int n) {
  const int r = threadIdx.y, q = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < n / 4; ++k) {
    const char4 x = a[r * (n / 4) + k], y = b[q * (n / 4) + k];
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  }
  c[r * blockDim.x + q] = sum;
}
