// 64-bit integers: products, quotients, shifts, rotations, 128-bit sums.
extern "C" __global__ void arithmetic(const long long* a, const unsigned long long* b,
                                      long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = a[i];
  const unsigned long long y = b[i];
  const int s = (int)(y & 63);
  out[i] = x * (long long)y;
  out[n + i] = __mul64hi(x, (long long)y) + (long long)__umul64hi((unsigned long long)x, y);
  out[2 * n + i] = x / (long long)(y >> 33 | 1);
  out[3 * n + i] = (long long)((unsigned long long)x % (y | 1));
  out[4 * n + i] = (x >> s) ^ (long long)(y << s) ^ (long long)(y >> (63 - s));
  out[5 * n + i] = x > (long long)y ? x - 1 : (unsigned long long)x < y ? ~x : -x;
  out[6 * n + i] = llabs(x) + min(x, 5ll) - max((long long)y, x);
  out[7 * n + i] = x % 1000003 + x / 10;
}
extern "C" __global__ void sums(const uint4* a, const uint4* b, uint4* out) {
  // 128 bits, limb by limb.
  const uint4 x = a[threadIdx.x], y = b[threadIdx.x];
  uint4 r;
  asm("add.cc.u32 %0,%4,%8;\naddc.cc.u32 %1,%5,%9;\naddc.cc.u32 %2,%6,%10;\naddc.u32 %3,%7,%11;"
      : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
      : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
  out[2 * threadIdx.x] = r;
  asm("sub.cc.u32 %0,%4,%8;\nsubc.cc.u32 %1,%5,%9;\nsubc.cc.u32 %2,%6,%10;\nsubc.u32 %3,%7,%11;"
      : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
      : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
  out[2 * threadIdx.x + 1] = r;
}
extern "C" __global__ void turns(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = threadIdx.x;
  const unsigned x = a[i], y = b[i], s = y >> 7;
  out[i] = __funnelshift_l(x, y, s);
  out[n + i] = __funnelshift_r(x, y, s);
  out[2 * n + i] = __funnelshift_lc(x, y, s & 63);
  out[3 * n + i] = __funnelshift_rc(x, y, s & 63);
  out[4 * n + i] = (x << (s & 31)) | (x >> (-s & 31));
  out[5 * n + i] = __umulhi(x, y) + (unsigned)__mulhi((int)x, (int)y) + __uhadd(x, y) +
                   (unsigned)__rhadd((int)x, (int)y);
}
extern "C" __global__ void gcd(const unsigned long long* a, const unsigned long long* b,
                               unsigned long long* out) {
  unsigned long long x = a[threadIdx.x], y = b[threadIdx.x];
  while (y != 0) {
    const unsigned long long t = x % y;
    x = y;
    y = t;
  }
  out[threadIdx.x] = x;
}
