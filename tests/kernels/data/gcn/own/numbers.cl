// Integers of all widths, and correctly rounded floats.
kernel void integers(global const uint* a, global const uint* b, global uint* out) {
  const uint i = get_global_id(0);
  const uint x = a[i], y = b[i];
  const int sx = (int)x, sy = (int)y;
  global uint* o = out + 20 * i;
  o[0] = popcount(x) | clz(y) << 8;
  o[1] = mul_hi(x, y);
  o[2] = (uint)mul_hi(sx, sy);
  o[3] = mul_hi(x, y) + x;
  o[4] = rotate(x, y);
  o[5] = add_sat(x, y);
  o[6] = (uint)add_sat(sx, sy);
  o[7] = sub_sat(x, y);
  o[8] = (uint)sub_sat(sx, sy);
  o[9] = hadd(x, y);
  o[10] = (uint)rhadd(sx, sy);
  o[11] = (uint)mul24(sx << 8 >> 8, sy << 8 >> 8);
  o[12] = mad24(x & 0xffffff, y & 0xffffff, x);
  o[13] = abs_diff(sx, sy);
  o[14] = x / (y | 1);
  o[15] = (uint)(sx / (int)(y & 0xffff | 1));
  o[16] = x % (y >> 16 | 1);
  o[17] = (uint)clamp(sx, -1000, sy & 0xfffff);
  o[18] = upsample((ushort)x, (ushort)y);
  o[19] = (x & y) | (~x & (y >> 3));
}

kernel void longs(global const ulong* a, global const ulong* b, global ulong* out) {
  const uint i = get_global_id(0);
  const ulong x = a[i], y = b[i];
  const long sx = (long)x, sy = (long)y;
  global ulong* o = out + 12 * i;
  o[0] = x * y;
  o[1] = mul_hi(x, y);
  o[2] = x / (y | 1);
  o[3] = (ulong)(sx / (sy >> 20 | 1));
  o[4] = x % (y >> 13 | 1);
  o[5] = x << (y & 63) | x >> (63 - (y & 63));
  o[6] = (ulong)(sx >> (y & 63));
  o[7] = popcount(x) | clz(y) << 8;
  o[8] = add_sat(x, y);
  o[9] = (ulong)sub_sat(sx, sy);
  o[10] = max(x, y) ^ (ulong)min(sx, sy);
  o[11] = (ulong)(sx < sy) | (ulong)(x < y) << 1 | (ulong)(x == y) << 2;
}

kernel void floats(global const float* a, global const float* b, global float* out, global int* ints) {
  const uint i = get_global_id(0);
  const float x = a[i], y = b[i];
  global float* o = out + 12 * i;
  o[0] = x / y;
  o[1] = sqrt(fabs(x));
  o[2] = fma(x, y, x);
  o[3] = x + y * 3.0f;
  o[4] = floor(x) - ceil(y);
  o[5] = rint(x) + trunc(y);
  o[6] = fmin(x, y) - fmax(x, 0.5f);
  o[7] = (float)as_uint(x);
  o[8] = (float)as_int(y);
  o[9] = (float)((ulong)as_uint(x) * as_uint(y));
  o[10] = (float)((long)as_int(x) * as_int(y));
  o[11] = 1.0f / x;
  global int* k = ints + 6 * i;
  k[0] = convert_int_sat(x);
  k[1] = (int)convert_uint_sat(y);
  k[2] = convert_int_rte(clamp(x, -1e6f, 1e6f));
  k[3] = (isless(x, y) & 1) | (isgreaterequal(x, y) & 1) << 1 | (isunordered(x, y) & 1) << 2 | (isfinite(x) & 1) << 3 |
         (signbit(y) & 1) << 4;
  k[4] = convert_short_sat(y);
  k[5] = convert_uchar_sat(x * 16.0f);
}
