#version 450
// A long loop, to find drivers that leave it too early. Its result has no closed form.
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer Inputs { uint iterations; };
layout(std430, binding = 1) writeonly buffer Results { uint result; };

void main() {
  uint x = 1u;
  for (uint i = 0u; i < iterations; ++i) x = (x ^ (x >> 15)) * 747796405u + i;
  result = x;
}
