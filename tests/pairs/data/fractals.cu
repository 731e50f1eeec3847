// Loops that lanes leave at different times: a fractal in fixed point and in floats, Collatz,
// nested loops with continue and a way out of both.
extern "C" __global__ void fixed(int* out, int w, int h, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const long long cx = -(2ll << 28) + (3ll << 28) * x / w, cy = -(1ll << 28) + (2ll << 28) * y / h;
  long long a = 0, b = 0;
  int n = 0;
  for (; n < limit; ++n) {
    const long long aa = a * a >> 28, bb = b * b >> 28;
    if (aa + bb > 4ll << 28) break;
    b = (a * b >> 27) + cy;
    a = aa - bb + cx;
  }
  out[y * w + x] = n;
}
extern "C" __global__ void floating(int* out, int w, int h, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float cx = -2.f + 3.f * x / w, cy = -1.f + 2.f * y / h;
  float a = 0, b = 0;
  int n = 0;
  while (n < limit) {
    const float t = a * a - b * b + cx;
    b = 2.f * a * b + cy;
    a = t;
    if (a * a + b * b > 4.f) break;
    ++n;
  }
  out[y * w + x] = n;
}
extern "C" __global__ void collatz(const unsigned long long* in, int* steps,
                                   unsigned long long* top) {
  unsigned long long v = in[threadIdx.x], high = v;
  int n = 0;
  do {
    if (v == 1) break;
    v = v & 1 ? 3 * v + 1 : v / 2;
    high = high < v ? v : high;
  } while (++n < 500);
  steps[threadIdx.x] = n;
  top[threadIdx.x] = high;
}
extern "C" __global__ void pairs(const int* a, int n, int* out) {
  // The first pair (i, j) whose sum is this thread's number, without multiples of three.
  const int want = threadIdx.x * 5 + 20;
  int found = -1, tried = 0;
  for (int i = 0; i < n; ++i) {
    if (a[i] % 3 == 0) continue;
    for (int j = i + 1; j < n; ++j) {
      if (a[j] % 3 == 0) continue;
      ++tried;
      if (a[i] + a[j] > want + 60) break;
      if (a[i] + a[j] == want) {
        found = i * 1000 + j;
        goto done;
      }
    }
  }
done:
  out[2 * threadIdx.x] = found;
  out[2 * threadIdx.x + 1] = tried;
}
