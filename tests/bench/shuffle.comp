#version 450
// What someone without subgroup operations of 32 lanes writes by hand: sums over 32 neighbours in a
// butterfly and counts votes, through shared memory. tests/bench/wave_bench.cpp has the same in PTX.
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
shared uint values[256];
shared uint votes[8];

void main() {
  const uint lane = gl_LocalInvocationIndex, place = gl_GlobalInvocationID.x;
  uint x = data[place];
  for (uint round = 0u; round < 4u; ++round) {
    for (uint distance = 16u; distance > 0u; distance >>= 1) {
      values[lane] = x;
      barrier();
      x += values[lane ^ distance];
      barrier();
    }
    if ((lane & 31u) == 0u) votes[lane >> 5] = 0u;
    barrier();
    if (((x + lane) & 3u) == 0u) atomicOr(votes[lane >> 5], 1u << (lane & 31u));
    barrier();
    x = x * 3u + uint(bitCount(votes[lane >> 5])) + lane;
    barrier();
  }
  data[place] = x;
}
