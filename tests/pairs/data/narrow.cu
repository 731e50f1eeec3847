// Bytes and shorts: wrapping, signs, vectors of them, saturation.
extern "C" __global__ void bytes(const signed char* a, const unsigned char* b, signed char* c,
                                 unsigned char* d, short* e, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const signed char x = a[i];
  const unsigned char y = b[i];
  c[i] = (signed char)(x * 3 + y);
  d[i] = (unsigned char)((y << 3) - x);
  e[i] = (short)(x * (int)y);
  signed char s = x;
  s >>= 2;
  s ^= (signed char)y;
  c[n + i] = s;
  unsigned char u = y;
  u = (unsigned char)(u / 7 + u % 5);
  u = (unsigned char)~u;
  d[n + i] = u;
  e[n + i] = (short)(x < (signed char)y ? x : y);
}
extern "C" __global__ void shorts(const short* a, const unsigned short* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  short x = a[i];
  unsigned short y = b[i];
  out[i] = x * y;
  out[n + i] = x / (y | 1) + x % ((y & 15) + 1);
  x += y;
  y -= 12345;
  out[2 * n + i] = x + y;
  const int sum = a[i] + b[i];
  out[3 * n + i] = sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum;
  out[4 * n + i] = __mul24(a[i] << 4, b[i]) + (int)__umul24(b[i], b[i]);
}
extern "C" __global__ void pixels(const uchar4* in, uchar4* out, unsigned* grey, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 p = in[i];
  const int r = p.x + p.w - 128, g = p.y * 2, b = p.z - p.x;
  out[i] = make_uchar4(min(max(r, 0), 255), min(g, 255), max(b, 0), 255 - p.w);
  grey[i] = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
}
