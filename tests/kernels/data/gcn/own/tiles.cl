// Loops around barriers whose ends come from the group's size and from arguments: conditions that
// the compiler computes in vector registers, branches on masks, EXEC narrowed in between.
kernel void product(global const float4* a, global const float4* b, global float4* out, uint width, local float4* tile) {
  const uint x = get_local_id(0), y = get_local_id(1), n = get_local_size(0);
  float4 sum = 0;
  for (uint i = 0; i < width / n; ++i) {
    tile[y * n + x] = a[get_global_id(1) * width + i * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < n * 4; j += 4) {
      const float4 v = tile[y * n + (j >> 2)];
      const uint row = i * n * 4 + j, columns = get_global_size(0);
      sum += v.x * b[row * columns + get_global_id(0)] + v.y * b[(row + 1) * columns + get_global_id(0)] +
             v.z * b[(row + 2) * columns + get_global_id(0)] + v.w * b[(row + 3) * columns + get_global_id(0)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
}

kernel void total(global const uint* in, global uint* out, uint n, local volatile uint* s) {
  const uint t = get_local_id(0), size = get_local_size(0);
  uint sum = 0;
  for (uint i = get_group_id(0) * size * 2 + t; i < n; i += size * 2 * get_num_groups(0)) {
    sum += in[i];
    if (i + size < n) sum += in[i + size];
  }
  s[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = size >> 1; k; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = s[0];
}

// Heat that spreads for some steps inside a tile, which gets smaller by its rim each time.
kernel void spread(int steps, global const int* in, global int* out, int columns, int border, local int* now, local int* next) {
  const int size = get_local_size(0), t = get_local_id(0), at = (size - steps * 2) * get_group_id(0) - border + t;
  const int west = max(t - 1, 0), east = min(t + 1, size - 1);
  const bool inside = at >= 0 && at < columns;
  bool done = false;
  now[t] = inside ? in[at] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < steps; ++i) {
    done = false;
    if (t >= i + 1 && t <= size - i - 2 && inside) {
      done = true;
      next[t] = now[west] + 2 * now[t] + now[east];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == steps - 1) break;
    if (done) now[t] = next[t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (done) out[at] = next[t];
}
