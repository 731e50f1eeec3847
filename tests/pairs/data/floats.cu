// Arithmetic of floats: directed rounding, quotients, roots, limits, conversions with clamping.
extern "C" __global__ void arithmetic(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  out[i] = x / y;
  out[n + i] = sqrtf(fabsf(x)) * y - x;
  out[2 * n + i] = fmaf(x, y, -y);
  out[3 * n + i] = floorf(x) + ceilf(y) - truncf(x) * rintf(y);
  out[4 * n + i] = fminf(x, y) + fmaxf(x, -1.f) + copysignf(2.f, x);
  out[5 * n + i] = __fadd_ru(x, y) - __fmul_rd(x, y) + __fmaf_rz(x, y, x) + __fdiv_rd(x, y);
  out[6 * n + i] = __frcp_rn(x) + __fsqrt_rz(fabsf(y));
  out[7 * n + i] = __saturatef(x) - (x < y ? x : y >= 0 ? 1.f : -1.f);
  out[8 * n + i] = fmodf(x, 3.25f);
}
extern "C" __global__ void conversions(const float* a, int* i32, unsigned* u32, long long* i64,
                                       unsigned char* u8, short* i16, int n) {
  const int i = threadIdx.x;
  const float x = a[i];
  i32[i] = (int)x;
  i32[n + i] = __float2int_ru(x);
  u32[i] = (unsigned)x;
  u32[n + i] = __float2uint_rd(x);
  i64[i] = (long long)x;
  u8[i] = (unsigned char)(int)x;
  i16[i] = (short)__float2int_rn(x);
}
extern "C" __global__ void back(const int* i32, const long long* i64, const unsigned char* u8,
                                const short* i16, float* out) {
  const int i = threadIdx.x, n = blockDim.x;
  out[i] = (float)i32[i];
  out[n + i] = __int2float_rz(i32[i]);
  out[2 * n + i] = (float)i64[i];
  out[3 * n + i] = __ull2float_ru((unsigned long long)i64[i]);
  out[4 * n + i] = u8[i] * 0.5f;
  out[5 * n + i] = (float)i16[i];
  out[6 * n + i] = __int_as_float(__float_as_int((float)u8[i]) ^ 0x80000000);
}
