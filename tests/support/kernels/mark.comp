#version 450
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Counts the visits of every group: right only when each group runs exactly once.
layout(local_size_x = 1) in;
void main() { atomicAdd(arena[group_index()], 1u); }
