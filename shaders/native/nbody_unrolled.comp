#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// nbody.comp with four bodies a trip and a second loop for what is left, as nvcc unrolls the guest's.
layout(local_size_x = 256) in;
float fx = 0, fy = 0, fz = 0;
void add(vec4 a, vec4 b) {
  const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
  const float r = inversesqrt(dx * dx + dy * dy + dz * dz + 0.01), q = b.w * r * r * r;
  fx += q * dx;
  fy += q * dy;
  fz += q * dz;
}
void main() {
  const int i = int(gl_GlobalInvocationID.x), n = pc.i0, left = n & 3;
  const vec4 a = F4(pc.p0).v[i];
  int j = 0;
  for (; j < n - left; j += 4) {
    add(a, F4(pc.p0).v[j]);
    add(a, F4(pc.p0).v[j + 1]);
    add(a, F4(pc.p0).v[j + 2]);
    add(a, F4(pc.p0).v[j + 3]);
  }
  for (; j < n; ++j) add(a, F4(pc.p0).v[j]);
  F4(pc.p1).v[i] = vec4(fx, fy, fz, 0);
}
