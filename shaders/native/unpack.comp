#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// Four bytes a texel, as numbers of 0 to 1, times a weight; four floats out.
layout(local_size_x=256) in;
void main() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i < pc.i0) F4(pc.p1).v[i] = pc.f0 * unpackUnorm4x8(U(pc.p0).v[i]);
}
