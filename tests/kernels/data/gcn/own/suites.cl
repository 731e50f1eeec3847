// What kernels of public suites do: elements that lie at any byte, calls of functions in front of
// and behind the kernel, local memory of its own beside that of an argument, an argument block
// whose end the compiler reads past.
#define OWN __attribute__((noinline))

kernel void bytes3(global const uchar* in, global uchar* out, global const short* pairs, global short* turned) {
  const uint i = get_global_id(0);
  const uchar3 x = vload3(i, in);
  vstore3(x.zxy + (uchar3)(1, 2, 3), i, out);
  const short3 p = vload3(i, pairs);
  vstore3(p.yzx * (short3)(3, 5, 7), i, turned);
}

struct __attribute__((packed)) Record {
  uchar kind;
  uint number;
  ushort part;
  ulong wide;
};
kernel void packed(global const struct Record* in, global struct Record* out, global uint* sums) {
  const uint i = get_global_id(0);
  struct Record r = in[i];
  sums[i] = r.kind + r.number + r.part + (uint)(r.wide >> 32);
  r.wide = r.wide * 3 + r.number;
  r.number ^= r.part;
  r.part += r.kind;
  out[i ^ 1] = r;
}

OWN ulong product(ulong a, ulong b, ulong m) {
  ulong r = 0;
  a %= m;
  while (b) {
    if (b & 1) r = (r + a) % m;
    a = (a + a) % m;
    b >>= 1;
  }
  return r;
}
OWN ulong power(ulong a, ulong e, ulong m) {
  ulong r = 1;
  while (e) {
    if (e & 1) r = product(r, a, m);
    a = product(a, a, m);
    e >>= 1;
  }
  return r;
}
// Miller and Rabin, with what is enough for 32 bits.
OWN int is_prime(uint n) {
  const uint bases[3] = {2, 7, 61};
  if (n < 2) return 0;
  for (int i = 0; i < 3; ++i)
    if (n % bases[i] == 0) return n == bases[i];
  uint d = n - 1, s = 0;
  while (!(d & 1)) {
    d >>= 1;
    ++s;
  }
  for (int i = 0; i < 3; ++i) {
    ulong x = power(bases[i], d, n);
    if (x == 1 || x == n - 1) continue;
    int passes = 0;
    for (uint k = 1; k < s && !passes; ++k) {
      x = product(x, x, n);
      passes = x == n - 1;
    }
    if (!passes) return 0;
  }
  return 1;
}
kernel void primes(global const uint* in, global int* out) {
  const uint i = get_global_id(0);
  out[i] = is_prime(in[i]);
}

OWN uint divisor(uint a, uint b) {
  while (b) {
    const uint t = a % b;
    a = b;
    b = t;
  }
  return a;
}
kernel void divisors(global const uint* a, global const uint* b, global uint* out) {
  const uint i = get_global_id(0);
  out[i] = divisor(a[i], b[i]) + (uint)is_prime(i) * 1000000u;
}

kernel void search(global const uchar* text, int length, global const uchar* pattern, int n,
                   global int* hits, global int* count, local uchar* small, int most) {
  local int found[1];
  const int l = get_local_id(0), lanes = get_local_size(0);
  for (int i = l; i < n; i += lanes) small[i] = pattern[i] | 32;
  if (l == 0) found[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int begin = get_group_id(0) * most, end = min(begin + most, length - n + 1);
  for (int i = begin + l; i < end; i += lanes) {
    int k = 0;
    while (k < n && (text[i + k] | 32) == small[k]) ++k;
    if (k == n) {
      hits[i] = 1;
      atomic_inc(found);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) atomic_add(count, found[0]);
}

kernel void tail(global const float* in, global float* out, int width, int flip, local float* tile) {
  const int i = get_local_id(0), j = get_local_id(1);
  tile[j * 8 + i] = in[j * width + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[j * width + i] = flip ? tile[i * 8 + j] * 2 : tile[j * 8 + i];
}
