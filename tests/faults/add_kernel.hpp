// The kernel of those tests that launch the same again and again.
#pragma once

/// p[i] += n.
inline const char* const kAdd = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<6>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r2, %r4, %r5, %r2;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d1];
  add.u32 %r3, %r3, %r1;
  st.global.u32 [%d1], %r3;
  ret;
}
)";
