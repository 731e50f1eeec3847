// Functions that stay functions.
#define APART __attribute__((noinline))
typedef struct { uint a, b; ulong c; float d[4]; } record;

APART uint mix(uint x, uint y) { return (x ^ y >> 3) * 0x9e3779b1u + (x << 7); }
APART float horner(float x, float4 c) { return ((c.x * x + c.y) * x + c.z) * x + c.w; }
APART ulong wide(ulong x, uint n) { return n % 3 == 0 ? x * 0x100000001b3ul : mix((uint)x, n) + (x >> n % 61); }
APART void update(private record* r, uint n) {
  r->a = mix(r->a, n);
  r->b += r->a & 15;
  r->c = wide(r->c, n);
  for (uint k = 0; k < 4; ++k) r->d[(k + n) & 3] += horner((float)(n & 7) * 0.25f, (float4)(1, 2, 3, (float)k));
}
APART uint many(uint a, uint b, uint c, uint d, ulong e, float f, uint4 g, uint8 h, uint8 i, uint8 j, uint k, uint l) {
  return a + 3 * b + 5 * c + 7 * d + (uint)(e >> 13) + (uint)f + g.x * g.w + h.s7 + i.s0 * j.s3 + 11 * k + 13 * l;
}

kernel void records(global const uint* in, global ulong* out, global float* floats, uint rounds) {
  const uint i = get_global_id(0);
  record r = {in[i], i, in[i] * 0x10001ul, {0, 1, 2, 3}};
  for (uint n = 0; n < rounds + (i & 3); ++n) update(&r, n + i);
  out[2 * i] = (ulong)r.a << 32 | r.b;
  out[2 * i + 1] = r.c;
  for (uint k = 0; k < 4; ++k) floats[4 * i + k] = r.d[k];
}

kernel void arguments(global const uint* in, global uint* out) {
  const uint i = get_global_id(0);
  uint s = 0;
  if (in[i] & 1) {
    const uint x = in[i];
    s = many(x, i, x >> 3, 4, (ulong)x << 9, (float)(x & 255), (uint4)(x, i, 3, 4), (uint8)(x + i), (uint8)(i),
             (uint8)(x, 1, 2, 3 + i, 4, 5, 6, 7), x >> 5, i * i);
  }
  for (uint k = 0; k < (i & 7); ++k) s = mix(s, k);
  out[i] = s;
}
