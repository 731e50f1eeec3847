// Vectors of bytes and shorts.
kernel void blend(global const uchar16* a, global const uchar16* b, global uchar16* out, uchar alpha) {
  const uint i = get_global_id(0);
  const uchar16 x = a[i], y = b[i];
  out[4 * i] = add_sat(x, y);
  out[4 * i + 1] = sub_sat(x, y);
  out[4 * i + 2] = convert_uchar16((convert_ushort16(x) * (ushort)alpha + convert_ushort16(y) * (ushort)(255 - alpha)) >>
                                   (ushort16)8);
  out[4 * i + 3] = max(rhadd(x, y), abs_diff(x, y));
}

kernel void signedbytes(global const char8* a, global const char8* b, global char8* out, global short8* wide) {
  const uint i = get_global_id(0);
  const char8 x = a[i], y = b[i];
  out[4 * i] = add_sat(x, y);
  out[4 * i + 1] = sub_sat(x, y);
  out[4 * i + 2] = select(x, y, x > y).s76543210;
  out[4 * i + 3] = (x >> (char8)3) ^ (char8)(y << (char8)1);
  wide[i] = convert_short8(x) * convert_short8(y);
}

kernel void sobel(global const uchar* in, global uchar* out, int w, int h) {
  const int x = get_global_id(0) % w, y = get_global_id(0) / w;
  if (x <= 0 || y <= 0 || x >= w - 1 || y >= h - 1) return;
  int p[9];
  for (int k = 0; k < 9; ++k) p[k] = in[(y + k / 3 - 1) * w + x + k % 3 - 1];
  const int gx = p[2] + 2 * p[5] + p[8] - p[0] - 2 * p[3] - p[6];
  const int gy = p[6] + 2 * p[7] + p[8] - p[0] - 2 * p[1] - p[2];
  out[y * w + x] = convert_uchar_sat(abs(gx) + abs(gy));
}

kernel void shorts(global const short4* a, global const ushort4* b, global short4* out) {
  const uint i = get_global_id(0);
  const short4 x = a[i], y = as_short4(b[i]);
  out[6 * i] = add_sat(x, y);
  out[6 * i + 1] = mul_hi(x, y);
  out[6 * i + 2] = as_short4(rotate(b[i], (ushort4)(3, 5, 7, 11)));
  out[6 * i + 3] = min(x, y) - max(x, (short4)(short)i);
  out[6 * i + 4] = as_short4(b[i] / (ushort4)(3, 10, 255, 1000));
  out[6 * i + 5] = x % (short4)(7, -9, 100, 2);
}
