// Local memory, barriers and atomics.
kernel __attribute__((reqd_work_group_size(128, 1, 1))) void sort(global uint* a) {
  local uint s[256];
  const uint t = get_local_id(0), base = get_group_id(0) * 256;
  s[t] = a[base + t];
  s[t + 128] = a[base + t + 128];
  for (uint k = 2; k <= 256; k <<= 1)
    for (uint j = k >> 1; j > 0; j >>= 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint lo = 2 * t - (t & (j - 1)), hi = lo + j;
      const uint x = s[lo], y = s[hi];
      if ((x > y) == ((lo & k) == 0)) {
        s[lo] = y;
        s[hi] = x;
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  a[base + t] = s[t];
  a[base + t + 128] = s[t + 128];
}

kernel void scan(global const int* in, global int* out, local int* t) {
  const uint l = get_local_id(0), n = get_local_size(0), base = get_group_id(0) * n;
  t[l] = in[base + l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint o = 1; o < n; o <<= 1) {
    const int v = l >= o ? t[l - o] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] += v;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[base + l] = t[l];
}

kernel void histogram(global const uchar* in, global uint* out, uint n) {
  local uint h[64];
  local uint least, most;
  const uint l = get_local_id(0);
  if (l < 64) h[l] = 0;
  if (l == 0) {
    least = ~0u;
    most = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    atomic_inc(&h[in[i] & 63]);
    atomic_min(&least, (uint)in[i]);
    atomic_max(&most, (uint)in[i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 64) atomic_add(&out[l], h[l]);
  if (l == 0) {
    atomic_min(&out[64], least);
    atomic_max(&out[65], most);
    atomic_or(&out[66], 1u << get_group_id(0));
    atomic_xor((global uint*)&out[67], most * 3);
  }
}

// A lock-free sum of floats, and tickets.
kernel void sums(global const float* in, global float* total, global uint* tickets) {
  local float sum;
  local int order;
  const uint l = get_local_id(0);
  if (l == 0) {
    sum = 0;
    order = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float x = in[get_global_id(0)];
  local volatile uint* p = (local volatile uint*)&sum;
  uint was = *p, seen;
  do {
    seen = was;
    was = atomic_cmpxchg(p, seen, as_uint(as_float(seen) + x));
  } while (was != seen);
  tickets[get_global_id(0)] = atomic_inc(&order);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) total[get_group_id(0)] = sum;
}
