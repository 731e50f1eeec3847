#version 450
#extension GL_GOOGLE_include_directive : require
// f32 fma by way of doubles, as the shader library does it, on chosen inputs; the host compares the
// bits. Laid out as float_probe.comp: the other operations' results are left as they are.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Inputs { uint inputs[]; };
layout(std430, binding = 1) writeonly buffer Results { uint results[]; };

const uint kOperations = 6;

#include "../lib/fma_double.glsl"

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= inputs.length() / 3) return;
  results[kOperations * i] = fma_by_double(inputs[3 * i], inputs[3 * i + 1], inputs[3 * i + 2]);
}
