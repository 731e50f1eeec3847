#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x=16,local_size_y=16) in;
void main() {
  const int w = pc.i0, h = pc.i1, x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int i = y * w + x;
  F a = F(pc.p0);
  F(pc.p1).v[i] = 0.5 * a.v[i] + 0.125 * (a.v[i - 1] + a.v[i + 1] + a.v[i - w] + a.v[i + w]);
}
