#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Never looks at the abort flag: each group takes its time.
layout(local_size_x = 8) in;
void main() {
  for (uint i = 0u; i < launch[PARAMETERS]; ++i) atomicAdd(arena[1], atomicOr(arena[0], 0u) + 1u);
}
