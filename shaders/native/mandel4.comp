#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// The test for escape follows the step.
layout(local_size_x=16,local_size_y=16) in;
void main() {
  const int w = pc.i0, h = pc.i1, x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
  if (x >= w || y >= h) return;
  const float cx = -2.0 + 3.0 * x / w, cy = -1.0 + 2.0 * y / h;
  float a = 0, b = 0;
  int i = 0;
  while (i < pc.i2) {
    const float t = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = t;
    if (a * a + b * b > 4.0) break;
    i++;
  }
  U(pc.p0).v[y * w + x] = uint(i);
}
