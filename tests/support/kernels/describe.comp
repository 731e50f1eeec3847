#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Copies the launch block and the list of allocations into the arena, for the host to look at.
layout(local_size_x = 1) in;
void main() {
  for (uint i = 0u; i < 70u; ++i) arena[i] = launch[i];
  for (uint i = 0u; i < 12u; ++i) arena[80u + i] = allocations[i];
}
