#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Runs until the host sets the abort flag (lavapipe leaves the loop after 65535 turns: use many
// groups). Parameter word 0: 1 = the first lane reports a used-up step budget.
layout(local_size_x = 8) in;
void main() {
  arena[gl_LocalInvocationID.x] = 7u;
  if (launch[PARAMETERS] == 1u && gl_LocalInvocationID.x + group_index() == 0u) {
    faults[64] = 0x80000001u;  // the first fault point, which ends the launch
    for (uint i = 0u; i < 3u; ++i) faults[65 + i] = group()[i];
    memoryBarrierBuffer();
    atomicAdd(faults[0], 1u);
  }
  while (atomicOr(faults[1], 0u) == 0u) atomicAdd(arena[8], 1u);
}
