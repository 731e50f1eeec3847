// Arithmetic, compares, conversions and functions of half precision itself (sm_53 on).
// PTX: nvcc -std=c++14 -fmad=false -ptx -arch=sm_53; cubins: ptxas -arch=sm_53, -arch=sm_61 of it (11.8).
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void
#define LANE const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x

KERNEL arithmetic(const __half2* a, const __half2* b, const __half2* c, __half2* out, __half2 k) {
  LANE;
  const __half2 x = a[i], y = b[i], z = c[i];
  out[i] = __hadd2(x, y);
  out[n + i] = __hsub2(x, y);
  out[2 * n + i] = __hmul2(x, y);
  out[3 * n + i] = __hfma2(x, y, z);
  out[4 * n + i] = __hadd2_sat(x, y);
  out[5 * n + i] = __hmul2_sat(x, y);
  out[6 * n + i] = __hfma2_sat(x, y, z);
  out[7 * n + i] = __hfma2(x, __hneg2(y), __hneg2(z));
  out[8 * n + i] = __hadd2(__lowhigh2highlow(x), y);
  out[9 * n + i] = __hfma2(__low2half2(x), __high2half2(y), z);
  out[10 * n + i] = __hadd2(__habs2(x), __hneg2(y));
  out[11 * n + i] = __halves2half2(__hadd(__low2half(x), __high2half(y)), __low2half(z));
  out[12 * n + i] = __hfma2(x, k, __hmul2(y, k));
  out[13 * n + i] = __hadd2(x, __floats2half2_rn(1.5f, -2.25f));
  out[14 * n + i] = __hmul2(y, __floats2half2_rn(0.1f, 3.0f));
  out[15 * n + i] = __hfma2(x, __floats2half2_rn(0.1f, 3.0f), z);
}
KERNEL compares(const __half2* a, const __half2* b, __half2* out, int* bits) {
  LANE;
  const __half2 x = a[i], y = b[i];
  out[i] = __hgt2(x, y);
  out[n + i] = __hequ2(x, y);
  out[2 * n + i] = __hneu2(x, y);
  out[3 * n + i] = __hle2(x, y);
  out[4 * n + i] = __hltu2(x, y);
  out[5 * n + i] = __hisnan2(x);
  const __half p = __low2half(x), q = __high2half(x), r = __low2half(y), s = __high2half(y);
  bits[i] = __hbgt2(x, y) | __hbequ2(x, y) << 1 | __hbne2(x, y) << 2 | __hbltu2(x, y) << 3 |
            (__hgt(p, r) || __hlt(q, s)) << 4 | (__hne(p, r) && __hgeu(q, s)) << 5 |
            (__heq(p, s) != __hle(q, r)) << 6;
}
KERNEL conversions(const __half* a, const int* b, int* ints, __half* halves) {
  LANE;
  const __half x = a[i];
  ints[i] = __half2int_rz(x);
  ints[n + i] = __half2int_rn(x);
  ints[2 * n + i] = __half2uint_rd(x);
  ints[3 * n + i] = __half2short_ru(x);
  halves[i] = __int2half_rn(b[i]);
  halves[n + i] = __int2half_rz(b[i]);
  halves[2 * n + i] = hfloor(x);
  halves[3 * n + i] = hceil(x);
  halves[4 * n + i] = htrunc(x);
  halves[5 * n + i] = hrint(x);
}
KERNEL functions(const __half* a, __half* out) {
  LANE;
  const __half x = a[i];
  out[i] = hsin(x);
  out[n + i] = hcos(x);
  out[2 * n + i] = hexp(x);
  out[3 * n + i] = hexp2(x);
  out[4 * n + i] = hlog(x);
  out[5 * n + i] = hlog2(x);
  out[6 * n + i] = hsqrt(x);
  out[7 * n + i] = hrsqrt(x);
  out[8 * n + i] = hrcp(x);
  out[9 * n + i] = __hdiv(__float2half(1.5f), x);
}
