#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_ARB_gpu_shader_int64 : require
// fma of exact sums and products, as the shader library does it, on chosen inputs; the host compares
// the bits. WIDE: f64, else f32 by way of doubles. Laid out as float_probe.comp: the other
// operations' results are left as they are.
layout(local_size_x = 64) in;

#if WIDE
#define BITS uint64_t
#else
#define BITS uint
#endif
layout(std430, binding = 0) readonly buffer Inputs { BITS inputs[]; };
layout(std430, binding = 1) writeonly buffer Results { BITS results[]; };

const uint kOperations = 20;

#include "../lib/numbers/round_to_odd.glsl"
#include "../lib/numbers/fma_double.glsl"
#include "../lib/numbers/fma_wide.glsl"

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= inputs.length() / 3) return;
  const BITS a = inputs[3 * i], b = inputs[3 * i + 1], c = inputs[3 * i + 2];
#if WIDE
  const BITS once = bits_of(fma_wide(double_of(a), double_of(b), double_of(c)));
  const BITS twice = bits_of(fma_wide(double_of(once), double_of(b), double_of(c)));
#else
  const BITS once = fma_by_double(a, b, c);
  const BITS twice = fma_by_double(once, b, c);
#endif
  results[kOperations * i] = once;
  results[kOperations * i + 19] = twice;
}
