#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// Inclusive sums of each group's 256 words.
layout(local_size_x=256) in;
shared uint s[256];
void main() {
  const uint t = gl_LocalInvocationID.x;
  uint v = U(pc.p0).v[gl_GlobalInvocationID.x];
  s[t] = v;
  barrier();
  for (uint k = 1; k < 256; k *= 2) {
    const uint left = t >= k ? s[t - k] : 0;
    barrier();
    v += left;
    s[t] = v;
    barrier();
  }
  U(pc.p1).v[gl_GlobalInvocationID.x] = v;
}
