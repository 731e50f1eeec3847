#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// A gather out of a table of i1 words; what lies beyond it reads 0.
layout(local_size_x=256) in;
void main() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i >= pc.i0) return;
  const uint at = U(pc.p0).v[i];
  U(pc.p2).v[i] = at < uint(pc.i1) ? U(pc.p1).v[at] : 0;
}
