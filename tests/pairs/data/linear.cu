// Linear systems in doubles: elimination with pivots, Cholesky, Jacobi, powers of a matrix.
extern "C" __global__ void eliminate(double* a, double* x, int n) {
  __shared__ int pivot;
  a += blockIdx.x * n * (n + 1);
  const int t = threadIdx.x, w = n + 1;
  for (int k = 0; k < n; ++k) {
    if (t == 0) {
      int best = k;
      for (int r = k + 1; r < n; ++r)
        if (fabs(a[r * w + k]) > fabs(a[best * w + k])) best = r;
      pivot = best;
    }
    __syncthreads();
    if (pivot != k && t < w) {
      const double s = a[k * w + t];
      a[k * w + t] = a[pivot * w + t];
      a[pivot * w + t] = s;
    }
    __syncthreads();
    if (t > k && t < n) {
      const double f = a[t * w + k] / a[k * w + k];
      for (int c = k; c < w; ++c) a[t * w + c] -= f * a[k * w + c];
    }
    __syncthreads();
  }
  if (t == 0)
    for (int r = n - 1; r >= 0; --r) {
      double s = a[r * w + n];
      for (int c = r + 1; c < n; ++c) s -= a[r * w + c] * x[blockIdx.x * n + c];
      x[blockIdx.x * n + r] = s / a[r * w + r];
    }
}
extern "C" __global__ void cholesky(const float* in, float* out) {
  __shared__ float m[16][17];
  const int r = threadIdx.y, c = threadIdx.x;
  m[r][c] = in[r * 16 + c];
  __syncthreads();
  for (int k = 0; k < 16; ++k) {
    if (r == k && c == k) m[k][k] = sqrtf(m[k][k]);
    __syncthreads();
    if (c == k && r > k) m[r][k] /= m[k][k];
    __syncthreads();
    if (c > k && r >= c) m[r][c] -= m[r][k] * m[c][k];
    __syncthreads();
  }
  out[r * 16 + c] = c <= r ? m[r][c] : 0.f;
}
extern "C" __global__ void fibonacci(const unsigned* n, unsigned long long* out) {
  // Powers of a matrix, modulo a prime.
  const unsigned long long p = 1000000007;
  unsigned long long a = 1, b = 1, d = 0, x = 1, y = 0, z = 1;
  for (unsigned e = n[threadIdx.x]; e > 0; e >>= 1) {
    if (e & 1) {
      const unsigned long long nx = (x * a + y * b) % p, ny = (x * b + y * d) % p,
                               nz = (y * b + z * d) % p;
      x = nx;
      y = ny;
      z = nz;
    }
    const unsigned long long na = (a * a + b * b) % p, nb = (a * b + b * d) % p,
                             nd = (b * b + d * d) % p;
    a = na;
    b = nb;
    d = nd;
  }
  out[threadIdx.x] = y;
}
