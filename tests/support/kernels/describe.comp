#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Copies the launch block but for the pointers, the list of allocations and the push constants into the arena, for the
// host to look at.
layout(local_size_x = 1) in;
void main() {
  for (uint i = 0u; i < 64u; ++i) arena[i] = launch[i];
  for (uint i = 0u; i < 6u; ++i) arena[64u + i] = launch[PARAMETERS + i];
  for (uint i = 0u; i < 12u; ++i) arena[80u + i] = allocations[i];
  for (uint i = 0u; i < 32u; ++i) arena[96u + i] = push[i];
}
