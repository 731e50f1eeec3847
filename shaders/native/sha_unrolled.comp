#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// sha.comp with 16 rounds a trip, as nvcc unrolls the guest's.
layout(local_size_x = 256) in;
#define ROUND { h ^= (g << 13) | (g >> 19); g += h * 5 + 0xe6546b64u; h = (h >> 7) | (h << 25); }
#define FOUR_ROUNDS ROUND ROUND ROUND ROUND
void main() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i >= pc.i0) return;
  uint h = U(pc.p0).v[i], g = 0x9e3779b9u;
  for (int k = 0; k < 64; k += 16) { FOUR_ROUNDS FOUR_ROUNDS FOUR_ROUNDS FOUR_ROUNDS }
  U(pc.p1).v[i] = h ^ g;
}
