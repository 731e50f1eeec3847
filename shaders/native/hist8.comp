#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// How often each byte occurs.
layout(local_size_x=256) in;
shared uint s[256];
uint byte_at(int i) {
#if WORDS
  return (U(pc.p0).v[i >> 2] >> (8 * (i & 3))) & 255;
#else
  return uint(B(pc.p0).v[i]);
#endif
}
void main() {
  const uint t = gl_LocalInvocationID.x;
  s[t] = 0;
  barrier();
  for (int i = int(gl_WorkGroupID.x * 256 + t); i < pc.i0; i += int(gl_NumWorkGroups.x) * 256)
    atomicAdd(s[byte_at(i)], 1);
  barrier();
  atomicAdd(U(pc.p1).v[t], s[t]);
}
