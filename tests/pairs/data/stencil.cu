// Stencils: seven points in three dimensions, a row with a halo in shared memory, and Life.
extern "C" __global__ void seven(const double* in, double* out, int nx, int ny, int nz, double k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  for (int z = 0; z < nz; ++z) {
    const int i = (z * ny + y) * nx + x;
    const double c = in[i];
    double sum = -6.0 * c;
    sum += x > 0 ? in[i - 1] : c;
    sum += x < nx - 1 ? in[i + 1] : c;
    sum += y > 0 ? in[i - nx] : c;
    sum += y < ny - 1 ? in[i + nx] : c;
    sum += z > 0 ? in[i - nx * ny] : c;
    sum += z < nz - 1 ? in[i + nx * ny] : c;
    out[i] = c + k * sum;
  }
}
extern "C" __global__ void halo(const float* in, float* out, int n) {
  __shared__ float s[128 + 8];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t + 4] = i < n ? in[i] : 0.f;
  if (t < 4) {
    s[t] = i >= 4 ? in[i - 4] : 0.f;
    s[t + 132] = i + 128 < n ? in[i + 128] : 0.f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0;
#pragma unroll
  for (int d = -4; d <= 4; ++d) sum += s[t + 4 + d] * (1.f / (1 + d * d));
  out[i] = sum;
}
extern "C" __global__ void life(const unsigned char* in, unsigned char* out, int w, int h) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w || y >= h) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      alive += in[(y + dy + h) % h * w + (x + dx + w) % w];
    }
  out[y * w + x] = alive == 3 || (alive == 2 && in[y * w + x]);
}
