// Quotients and remainders of 128 bits: compilers read the borrow of one chain in another.
typedef unsigned __int128 u128;
typedef __int128 i128;
extern "C" __global__ void wide_unsigned(const unsigned long long* a, unsigned long long* out) {
  const int i = threadIdx.x;
  const u128 x = (u128)a[4 * i + 1] << 64 | a[4 * i];
  u128 y = ((u128)a[4 * i + 3] << 64 | a[4 * i + 2]) >> (i * 3 % 128);
  y += y == 0;
  const u128 q = x / y, r = x % y;
  out[4 * i] = (unsigned long long)q;
  out[4 * i + 1] = (unsigned long long)(q >> 64);
  out[4 * i + 2] = (unsigned long long)r;
  out[4 * i + 3] = (unsigned long long)(r >> 64);
}
extern "C" __global__ void wide_signed(const unsigned long long* a, unsigned long long* out) {
  const int i = threadIdx.x;
  const i128 x = (i128)((u128)a[4 * i + 1] << 64 | a[4 * i]);
  i128 y = (i128)((u128)a[4 * i + 3] << 64 | a[4 * i + 2]) >> (i * 3 % 128);
  y += y == 0;
  const i128 q = x / y, r = x % y;
  out[4 * i] = (unsigned long long)q;
  out[4 * i + 1] = (unsigned long long)(q >> 64);
  out[4 * i + 2] = (unsigned long long)r;
  out[4 * i + 3] = (unsigned long long)(r >> 64);
}
