#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// mma_tiles.comp where subgroups have fewer than 32 lanes: each lane reads the words of its rows and columns.
layout(local_size_x = 256) in;
float two(float sum, uint a, uint b) {
  const vec2 x = unpackHalf2x16(a), y = unpackHalf2x16(b);
  return fma(x.y, y.y, fma(x.x, y.x, sum));
}
void main() {
  const uint n = uint(pc.i0), t = gl_LocalInvocationID.x, lane = t % 32u, group = lane / 4u, place = lane % 4u;
  const uint row = gl_WorkGroupID.y * 16u, column = (gl_WorkGroupID.x * 8u + t / 32u) * 8u;
  const uint top = (row + group) * (n / 2u), bottom = top + 4u * n, left = (column + 2u * place) * (n / 2u);
  const uint right = left + n / 2u;
  vec4 sums = vec4(0);
  for (uint k = 0u; k < n / 2u; ++k) {
    const uint x0 = U(pc.p0).v[top + k], x1 = U(pc.p0).v[bottom + k];
    const uint y0 = U(pc.p1).v[left + k], y1 = U(pc.p1).v[right + k];
    sums = vec4(two(sums.x, x0, y0), two(sums.y, x0, y1), two(sums.z, x1, y0), two(sums.w, x1, y1));
  }
  const uint at = (row + group) * n + column + 2u * place;
  F(pc.p2).v[at] = sums.x;
  F(pc.p2).v[at + 1u] = sums.y;
  F(pc.p2).v[at + 8u * n] = sums.z;
  F(pc.p2).v[at + 8u * n + 1u] = sums.w;
}
