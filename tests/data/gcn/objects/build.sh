#!/bin/sh
# Makes the objects again: needs clang, llvm-mc and ld.lld 14. Each as the compiler leaves it and linked.
set -e
cd "$(dirname "$0")"
llvm-mc-14 -triple=amdgcn-amd-amdhsa -mcpu=gfx803 -filetype=obj jumps.s -o jumps.gfx803.o
ld.lld-14 -shared jumps.gfx803.o -o jumps.gfx803.hsaco
compile() { # source, system, processor, name
  clang-14 -x cl -cl-std=CL2.0 -nogpulib -target "amdgcn-$2" -mcpu="$3" -O1 -fno-ident -c "$1.cl" -o "$1.$4.o"
}
compile tables amd-amdhsa gfx803 gfx803
compile tables amd-amdhsa gfx700 gfx700
compile tables amd-amdhsa tahiti gfx600
compile tables mesa-mesa3d gfx803 gfx803.mesa3d
compile tables mesa-mesa3d tahiti gfx600.mesa3d
ld.lld-14 -shared tables.gfx803.o -o tables.gfx803.hsaco
compile undefined amd-amdhsa gfx803 gfx803
clang-14 -x cl -DHIDDEN -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx803 -O1 -fno-ident \
  -c undefined.cl -o hidden.gfx803.o
ld.lld-14 -shared undefined.gfx803.o -o undefined.gfx803.hsaco
compile in_function amd-amdhsa gfx803 gfx803
compile hidden_fault amd-amdhsa gfx803 gfx803
compile recursion amd-amdhsa gfx803 gfx803
