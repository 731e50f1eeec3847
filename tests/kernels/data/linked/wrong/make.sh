#!/usr/bin/env bash
# PTXAS=ptxas make.sh: parts of a program that disagree, as PTX and as relocatable cubins of sm_52 (sm_60 in other.cubin).
# `user` calls value(), reads `table` and has a variable `shared_count`; the others define those, each in its way.
set -euo pipefail
cd "$(dirname "$0")"
part() {  # NAME TEXT [TARGET]
  printf '.version 7.8\n.target %s\n.address_size 64\n%s\n' "${3:-sm_52}" "$2" >"$1.ptx"
  "${PTXAS:-ptxas}" -c -arch="${3:-sm_52}" "$1.ptx" -o "$1.cubin"
}
value() { echo ".visible .func (.param .$1 r) value(.param .$1 x)
{
  st.param.$1 [r], ${2:-1};
  ret;
}"; }
table=".visible .global .align 4 .b8 table[16] = {5};"
part user ".extern .func (.param .b32 r) value(.param .b32 x);
.extern .global .align 4 .b8 table[16];
.common .global .align 4 .b8 count[4];
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  {
  .param .b32 x;
  .param .b32 r;
  st.param.b32 [x], 3;
  call.uni (r), value, (x);
  ld.param.b32 %r1, [r];
  }
  ld.global.u32 %r2, [table];
  mov.u64 %rd2, count;
  atom.global.add.u32 %r3, [%rd2], 1;
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd1], %r1;
  ret;
}"
part right "$(value b32)
$table
.common .global .align 8 .b8 count[8];
.visible .entry last(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [count+4];
  st.global.u32 [%rd1], %r1;
  ret;
}"
part again "$(value b32 2)"
part prototype "$(value b64)
$table"
part float "$(value f32 0f00000000)
$table"
part size "$(value b32)
.visible .global .align 4 .b8 table[8] = {5};"
part space "$(value b32)
.visible .const .align 4 .b8 table[16] = {5};"
part function "$(value b32)
.visible .func table() { ret; }"
part kernel ".visible .entry k(.param .u64 p) { ret; }"
part other "$(value b32)
$table" sm_60
