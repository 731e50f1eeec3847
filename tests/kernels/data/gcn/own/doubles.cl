// Double precision: exact operations, conversions, local memory, divergent loops.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void operations(global const double* a, global const double* b, global double* out, uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  const double x = a[i], y = b[i];
  global double* o = out + 12 * i;
  o[0] = x + y;
  o[1] = x - y;
  o[2] = x * y;
  o[3] = x / y;
  o[4] = fma(x, y, x);
  o[5] = fmin(x, y);
  o[6] = fmax(x, y);
  o[7] = floor(x) + ceil(y);
  o[8] = trunc(x) - rint(y);
  o[9] = ldexp(x, (int)(i % 40) - 20);
  o[10] = fabs(x) < fabs(y) ? copysign(x, y) : y - floor(y);
  o[11] = isnan(x) ? 1.0 : x == y ? 2.0 : x > y ? 3.0 : 4.0;
}

kernel void conversions(global const double* in, global long* longs, global int* ints, global float* floats,
                        global double* back) {
  const uint i = get_global_id(0);
  const double x = in[i], small = x * 0x1p-32;
  ints[4 * i] = (int)small;
  ints[4 * i + 1] = (int)(uint)fabs(small);
  ints[4 * i + 2] = small > 1.0 && small < 1e6;
  ints[4 * i + 3] = (int)(short)(int)small;
  longs[2 * i] = (long)x;
  longs[2 * i + 1] = (long)(ulong)fabs(x);
  floats[i] = (float)x;
  back[4 * i] = (double)ints[4 * i];
  back[4 * i + 1] = (double)longs[2 * i];
  back[4 * i + 2] = (double)((ulong)fabs(x) * 3);
  back[4 * i + 3] = (double)(float)x;
}

// A tile of 8 x 8 for each group.
kernel __attribute__((reqd_work_group_size(8, 8, 1))) void product(global const double* a, global const double* b,
                                                                   global double* c, uint n) {
  local double ta[8][8], tb[8][9];
  const uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  double sum = 0;
  for (uint k = 0; k < n; k += 8) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 8; ++j) sum = fma(ta[y][j], tb[j][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

kernel void escape(global uint* steps, uint width, double x0, double y0, double scale, uint most) {
  const uint i = get_global_id(0);
  const double cx = x0 + scale * (double)(i % width), cy = y0 + scale * (double)(i / width);
  double x = 0, y = 0;
  uint k = 0;
  for (; k < most; ++k) {
    const double xx = x * x, yy = y * y;
    if (xx + yy > 4.0) break;
    y = fma(x + x, y, cy);
    x = xx - yy + cx;
  }
  steps[i] = k;
}
