#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Each group owns a slot of `backing` while its chunk runs: the last lane reads what lane 0 wrote.
layout(local_size_x = 4) in;
void main() {
  const uint slot_words = launch[16] / 4u;
  const uint last = (group_index() % launch[15]) * slot_words + slot_words - 1u;
  if (gl_LocalInvocationID.x == 0u) backing[last] = group_index() + 1u;
  memoryBarrierBuffer();
  barrier();
  if (gl_LocalInvocationID.x == 3u) arena[group_index()] = backing[last];
}
