#version 450
#ifdef SIGNS
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif
// Shapes that some drivers get wrong, or take very long for (runtime/spirv/quirks.hpp). The build reads the rows.
// Tried by what comes out:
// kFenceProbe: -DFENCES
// kZeroProbe: -DZEROS
// kSignProbe: -DSIGNS
// By how long the driver's compiler takes:
// kSmallArrayProbe: -DWORDS=16u
// kLargeArrayProbe: -DWORDS=640u
// kAliveProbe:
// kDeadProbe: -DDEAD
// By how long it runs:
// kBranchProbe: -DBRANCH
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint result[]; };
// Another number each time, so that the driver has not kept what it made of the shader.
const uint KEY = 0x5eed0001u;

#if defined(FENCES)
// Parts of the group pass different numbers of barriers; every lane says that it came out.
void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint i = 0u; i <= lane / 8u; ++i) memoryBarrier();
  for (uint i = 0u; i <= lane % 5u; ++i)
    if ((source[i & 3u] ^ lane) != 3u) groupMemoryBarrier();
  result[lane] = lane + 1u;
}
#elif defined(ZEROS)
void main() {
  const uint lane = gl_LocalInvocationID.x;
  const float x = uintBitsToFloat(source[lane & 3u]);
  precise float product = x * 0.0, sum = 0.0 + x;
  result[2u * lane] = floatBitsToUint(product);
  result[2u * lane + 1u] = floatBitsToUint(sum);
}
#elif defined(SIGNS)
// Sign-extended numbers beside constants of 64 bits, on both sides.
void main() {
  const int64_t x = int64_t(int(source[gl_LocalInvocationID.x & 3u]));
  uint r = 0u;
#define BOTH(k) r = r << 8 | uint(x < k) | uint(x <= k) << 1 | uint(x > k) << 2 | uint(x >= k) << 3 | \
    uint(k < x) << 4 | uint(k <= x) << 5 | uint(k > x) << 6 | uint(k >= x) << 7;
  BOTH(-128l) BOTH(-1l) BOTH(0l) BOTH(127l)
  result[gl_LocalInvocationID.x] = r;
}
#elif defined(WORDS)
void main() {
  uint array[WORDS];
  const uint lane = gl_LocalInvocationID.x;
  array[source[0] % WORDS] = lane ^ KEY;
  array[source[1] % WORDS] += lane;
  result[lane] = array[source[2] % WORDS];
}
#elif defined(BRANCH)
// The branch is long, and all lanes take it or none does: source[0] says so.
void main() {
  float x = float(source[1]), y = float(source[2]);
  for (uint i = 0u; i < source[3]; ++i) {
    if (source[0] == 1u) {
#define STEPS4(x) x = sqrt(x + y); x = sqrt(x + y); x = sqrt(x + y); x = sqrt(x + y);
      STEPS4(x) STEPS4(x) STEPS4(x) STEPS4(x) STEPS4(x) STEPS4(x) STEPS4(x) STEPS4(x)
    }
    y += 1.0;
  }
  result[gl_LocalInvocationID.x] = floatBitsToUint(x + y) ^ KEY;
}
#else
#define STEP(x) x = (x ^ (x >> 15)) * 747796405u + 1u; if ((x & 1u) != 0u) x += source[x & 3u];
#define STEPS8(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x)
#define STEPS64(x) \
  STEPS8(x) STEPS8(x) STEPS8(x) STEPS8(x) STEPS8(x) STEPS8(x) STEPS8(x) STEPS8(x)
void main() {
  uint x = source[0] ^ KEY, never = 0u;
#ifdef DEAD
  if (never != 0u) { STEPS64(x) STEPS64(x) }
#endif
  result[gl_LocalInvocationID.x] = x + never;
}
#endif
