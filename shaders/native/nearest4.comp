#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// The texel at (x, y) * f0 + 1/4 of a picture of i0 * i1 texels of four bytes, which are numbers from 0 to 1.
layout(local_size_x=16, local_size_y=16) in;
void main(){
  ivec2 to=ivec2(gl_GlobalInvocationID.xy);
  ivec2 at=clamp(ivec2(floor(vec2(to)*pc.f0+0.25)), ivec2(0), ivec2(pc.i0,pc.i1)-1);
  F4(pc.p1).v[to.y*pc.i2+to.x]=unpackUnorm4x8(U(pc.p0).v[at.y*pc.i0+at.x]);
}
