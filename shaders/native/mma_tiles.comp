#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_quad : require
#include "common.glsl"
// A tile of 16 x 8 for 32 lanes, each with the words of A and B that a lane of mma.m16n8k16 has. A quad has the
// two rows of its four lanes, which quad broadcasts bring; the two columns come from eight other lanes.
layout(local_size_x = 256) in;
float two(float sum, uint a, uint b) {
  const vec2 x = unpackHalf2x16(a), y = unpackHalf2x16(b);
  return fma(x.y, y.y, fma(x.x, y.x, sum));
}
void main() {
  const uint n = uint(pc.i0), t = gl_LocalInvocationID.x, lane = t % 32u, group = lane / 4u, place = lane % 4u;
  const uint row = gl_WorkGroupID.y * 16u, column = (gl_WorkGroupID.x * 8u + t / 32u) * 8u;
  const uint top = (row + group) * (n / 2u) + place, bottom = top + 4u * n;
  const uint right = (column + group) * (n / 2u) + place;
  const uint from = (gl_SubgroupInvocationID & ~31u) + place * 8u;
  vec4 sums = vec4(0);
  for (uint k = 0u; k < n / 2u; k += 8u) {
    const uint a0 = U(pc.p0).v[top + k], a1 = U(pc.p0).v[bottom + k], a2 = U(pc.p0).v[top + k + 4u];
    const uint a3 = U(pc.p0).v[bottom + k + 4u], b0 = U(pc.p1).v[right + k], b1 = U(pc.p1).v[right + k + 4u];
#define STEP(A0, A1, B, J) {                                                              \
      const uint x0 = subgroupQuadBroadcast(A0, J), x1 = subgroupQuadBroadcast(A1, J);    \
      const uint y0 = subgroupShuffle(B, from + J), y1 = subgroupShuffle(B, from + 4u + J); \
      sums.x = two(sums.x, x0, y0); sums.y = two(sums.y, x0, y1);                         \
      sums.z = two(sums.z, x1, y0); sums.w = two(sums.w, x1, y1);                         \
    }
#define FOUR(A0, A1, B) STEP(A0, A1, B, 0u) STEP(A0, A1, B, 1u) STEP(A0, A1, B, 2u) STEP(A0, A1, B, 3u)
    FOUR(a0, a1, b0) FOUR(a2, a3, b1)
  }
  const uint at = (row + group) * n + column + 2u * place;
  F(pc.p2).v[at] = sums.x;
  F(pc.p2).v[at + 1u] = sums.y;
  F(pc.p2).v[at + 8u * n] = sums.z;
  F(pc.p2).v[at + 8u * n + 1u] = sums.w;
}
