// OpenCL kernels that read and write images, as libraries for this hardware have them.
#pragma OPENCL FP_CONTRACT OFF

constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void blur(read_only image2d_t from, write_only image2d_t to) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = (float4)(0);
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) sum += read_imagef(from, nearest, at + (int2)(x, y));
  write_imagef(to, at, sum * 0.125f);
}

kernel void resample(read_only image2d_t from, sampler_t s, global float4 *to, float2 scale) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float2 at = ((float2)(x, y) + 0.5f) * scale;
  to[y * get_global_size(0) + x] = read_imagef(from, s, at);
}

kernel void transpose(read_only image2d_t from, write_only image2d_t to) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(to, at.yx, read_imageui(from, at));
}

kernel void slice(read_only image3d_t volume, sampler_t s, global float4 *to, float z) {
  const int x = get_global_id(0), y = get_global_id(1);
  to[y * get_global_size(0) + x] = read_imagef(volume, s, (float4)(x + 0.25f, y + 0.75f, z, 0));
}

kernel void lookup(read_only image1d_t table, sampler_t s, global const float *at, global float *to) {
  const size_t n = get_global_id(0);
  to[n] = read_imagef(table, s, at[n]).x;
}

kernel void layers(read_only image2d_array_t stack, global uint4 *to) {
  const int x = get_global_id(0), y = get_global_id(1);
  uint4 sum = (uint4)(0);
  for (int n = 0; n < (int)get_image_array_size(stack); ++n)
    sum += read_imageui(stack, border, (int4)(x, y, n, 0));
  to[y * get_global_size(0) + x] = sum;
}

kernel void edges(read_only image2d_t from, global float *to) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float left = read_imagef(from, border, (int2)(x - 1, y)).x;
  const float right = read_imagef(from, border, (int2)(x + 1, y)).x;
  const float up = read_imagef(from, border, (int2)(x, y - 1)).x;
  const float down = read_imagef(from, border, (int2)(x, y + 1)).x;
  to[y * get_global_size(0) + x] = fabs(right - left) + fabs(down - up);
}

kernel void sizes(read_only image2d_t a, read_only image3d_t b, read_only image1d_t c,
                  read_only image2d_array_t d, global int *to) {
  to[0] = get_image_width(a);
  to[1] = get_image_height(a);
  to[2] = get_image_channel_data_type(a);
  to[3] = get_image_channel_order(a);
  to[4] = get_image_width(b);
  to[5] = get_image_height(b);
  to[6] = get_image_depth(b);
  to[7] = get_image_width(c);
  to[8] = get_image_width(d);
  to[9] = (int)get_image_array_size(d);
}

kernel void histogram(read_only image2d_t from, volatile global uint *counts) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x >= get_image_width(from) || at.y >= get_image_height(from)) return;
  const uint4 v = read_imageui(from, at);
  atomic_inc(&counts[v.x & 15]);
}

kernel void stack(read_only image1d_array_t from, write_only image2d_array_t to) {
  const int x = get_global_id(0), y = get_global_id(1);
  const int4 v = read_imagei(from, (int2)(x, y));
  write_imagei(to, (int4)(x, y, y & 1, 0), v + (int4)(1, 2, 3, 4));
}
