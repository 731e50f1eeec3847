#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// Four texels around (x, y) * f0 + 1/4 of a picture of i0 * i1 texels of four bytes, with weights of 8 bits.
layout(local_size_x=16, local_size_y=16) in;
vec4 texel(int i){ return unpackUnorm4x8(U(pc.p0).v[i]); }
void main(){
  ivec2 to=ivec2(gl_GlobalInvocationID.xy);
  vec2 at=vec2(to)*pc.f0+0.25-0.5, whole=floor(at), a=roundEven((at-whole)*256.0)*(1.0/256.0);
  ivec2 most=ivec2(pc.i0,pc.i1)-1, low=clamp(ivec2(whole),ivec2(0),most), high=clamp(ivec2(whole)+1,ivec2(0),most);
  int above=low.y*pc.i0, below=high.y*pc.i0;
  vec4 upper=mix(texel(above+low.x),texel(above+high.x),a.x), lower=mix(texel(below+low.x),texel(below+high.x),a.x);
  F4(pc.p1).v[to.y*pc.i2+to.x]=mix(upper,lower,a.y);
}
