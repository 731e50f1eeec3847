#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// The sum of 512 floats by each group.
layout(local_size_x=256) in;
shared float s[256];
void main() {
  const uint t = gl_LocalInvocationID.x, i = gl_WorkGroupID.x * 512 + t, n = uint(pc.i0);
  float v = 0;
  if (i < n) v = F(pc.p0).v[i];
  if (i + 256 < n) v += F(pc.p0).v[i + 256];
  s[t] = v;
  barrier();
  for (uint k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    barrier();
  }
  if (t == 0) F(pc.p1).v[gl_WorkGroupID.x] = s[0];
}
