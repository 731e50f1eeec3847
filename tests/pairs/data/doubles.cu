// Arithmetic of doubles: quotients, roots, fused sums, rounding, conversions, compares.
extern "C" __global__ void arithmetic(const double* a, const double* b, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i], y = b[i];
  out[i] = x / y;
  out[n + i] = sqrt(fabs(x)) - y;
  out[2 * n + i] = fma(x, y, -x);
  out[3 * n + i] = floor(x) + ceil(y) * trunc(x) - rint(y);
  out[4 * n + i] = fmin(x, y) - fmax(x, 0.5) * copysign(1.5, y);
  out[5 * n + i] = x > y ? 1.0 / x : x == y ? 7.0 : -y;
  out[6 * n + i] = __dadd_rd(x, y) + __dmul_ru(x, y) + __ddiv_rz(x, y) + __fma_rn(x, x, y);
}
extern "C" __global__ void conversions(const double* a, int* i32, unsigned* u32, long long* i64,
                                       unsigned long long* u64, float* f32, int n) {
  const int i = threadIdx.x;
  const double x = a[i];
  i32[i] = (int)x;
  u32[i] = __double2uint_rn(x);
  i64[i] = __double2ll_rd(x);
  u64[i] = __double2ull_ru(x);
  f32[i] = (float)x;
  i32[n + i] = __double2hiint(x) ^ __double2loint(x);
}
extern "C" __global__ void back(const int* i32, const unsigned* u32, const long long* i64,
                                const unsigned long long* u64, const float* f32, double* out) {
  const int i = threadIdx.x, n = blockDim.x;
  out[i] = i32[i];
  out[n + i] = u32[i];
  out[2 * n + i] = (double)i64[i];
  out[3 * n + i] = (double)u64[i];
  out[4 * n + i] = f32[i];
}
extern "C" __global__ void roots(const double* a, double* out) {
  // Newton's steps until nothing changes.
  const double x = a[threadIdx.x];
  double r = x > 1 ? x : 1;
  int steps = 0;
  while (true) {
    const double next = 0.5 * (r + x / r);
    if (next == r || ++steps == 100) break;
    r = next;
  }
  out[threadIdx.x] = r;
}
