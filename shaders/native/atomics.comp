#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// Counts, maxima and bits of scattered keys, in global memory.
layout(local_size_x=256) in;
void main() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i >= pc.i0) return;
  const uint key = U(pc.p0).v[i] & 1023;
  atomicAdd(U(pc.p1).v[key], 1);
  atomicMax(U(pc.p1).v[1024 + key], uint(i));
  const uint old = atomicOr(U(pc.p1).v[2048 + key], 1u << (i & 31));
  if (old == 0xffffffffu) atomicAdd(U(pc.p1).v[3072], 1);
}
