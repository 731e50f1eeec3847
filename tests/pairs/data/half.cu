// Half precision by way of floats, alone and in pairs.
#include <cuda_fp16.h>
extern "C" __global__ void axpy(const __half* x, __half* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half_rn(__fadd_rn(__fmul_rn(a, __half2float(x[i])), __half2float(y[i])));
}
extern "C" __global__ void pairs(const __half2* x, __half2* y, float2* sums) {
  const int i = threadIdx.x;
  const float2 v = __half22float2(x[i]), w = __half22float2(y[i]);
  y[i] = __floats2half2_rn(v.x - w.y, v.y + w.x);
  sums[i] = make_float2(__low2float(y[i]), __high2float(y[i]));
}
extern "C" __global__ void roundings(const float* in, unsigned short* out, int n) {
  const int i = threadIdx.x;
  out[i] = __half_as_ushort(__float2half_rn(in[i]));
  out[n + i] = __half_as_ushort(__float2half_rz(in[i]));
  out[2 * n + i] = __half_as_ushort(__float2half_rd(in[i]));
  out[3 * n + i] = __half_as_ushort(__float2half_ru(in[i]));
}
