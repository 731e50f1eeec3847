#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// Tiles of 32 by 32, four rows an invocation.
layout(local_size_x=32,local_size_y=8) in;
shared float t[32][33];
void main() {
  const int w = pc.i0, h = pc.i1, tx = int(gl_LocalInvocationID.x), ty = int(gl_LocalInvocationID.y);
  int x = int(gl_WorkGroupID.x) * 32 + tx, y = int(gl_WorkGroupID.y) * 32 + ty;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) t[ty + j][tx] = F(pc.p0).v[(y + j) * w + x];
  barrier();
  x = int(gl_WorkGroupID.y) * 32 + tx;
  y = int(gl_WorkGroupID.x) * 32 + ty;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) F(pc.p1).v[(y + j) * h + x] = t[tx][ty + j];
}
