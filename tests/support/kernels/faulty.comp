#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Every odd lane of every group reports a fault; its record says who it was.
layout(local_size_x = 4) in;
void main() {
  const uint lane = gl_LocalInvocationID.x;
  if ((lane & 1u) == 0u) return;
  const uint slot = atomicAdd(faults[0], 1u);
  if (slot >= 64u) return;
  const uint at = 64u + 8u * slot;
  faults[at] = 2u;  // the second fault point
  for (uint i = 0u; i < 3u; ++i) faults[at + 1u + i] = group()[i];
  faults[at + 4u] = lane;
  faults[at + 5u] = lane;  // address 0x1_0000_0000 + lane
  faults[at + 6u] = 1u;
}
