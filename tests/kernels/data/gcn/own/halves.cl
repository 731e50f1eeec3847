// Half precision: each operation stored, so that targets without halves round as often as those with.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void operations(global const half* a, global const half* b, global half* out, global uint* tests) {
  const uint i = get_global_id(0);
  const half x = a[i], y = b[i];
  global half* o = out + 8 * i;
  o[0] = x + y;
  o[1] = x - y;
  o[2] = x * y;
  o[3] = x / y;
  o[4] = x < y ? x : y;
  o[5] = -x;
  o[6] = (half)(i * 37u);
  const bool small = x > (half)-1000 && x < (half)1000 && y > (half)-1000 && y < (half)1000;
  o[7] = small ? (half)(int)(x * (half)4) : x;
  tests[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 | (x >= y) << 5 |
             (uint)isnan(x) << 6 | (small ? (uint)(ushort)(short)y << 16 : 0u);
}

kernel void vectors(global const half4* a, global const half4* b, global half4* sum, global float4* wide,
                    global half* dots) {
  const uint i = get_global_id(0);
  const half4 x = a[i], y = b[i];
  sum[i] = (x + y).wzyx;
  const float4 fx = __builtin_convertvector(x, float4), fy = __builtin_convertvector(y, float4);
  wide[i] = fx * fy + 1.0f;
  dots[i] = (half)(fx.x * fy.x + fx.y * fy.y + fx.z * fy.z + fx.w * fy.w);
}

kernel void storage(global const float* in, global half* near, global half* zero, global half* up, global half* down,
                    global float* back) {
  const uint i = get_global_id(0);
  vstore_half_rte(in[i], i, near);
  vstore_half_rtz(in[i], i, zero);
  vstore_half_rtp(in[i], i, up);
  vstore_half_rtn(in[i], i, down);
  back[i] = vload_half(i, near);
}
