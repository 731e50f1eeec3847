#version 450
// Computes functions of the device's own; the host holds the results against PTX's bounds.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Inputs { uint inputs[]; };
layout(std430, binding = 1) writeonly buffer Results { uint results[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= inputs.length()) return;
  const float x = uintBitsToFloat(inputs[i]);
  const float y = uintBitsToFloat(inputs[(i * 7919u + 13u) % inputs.length()]);
  precise const float quotient = x / y, inverse = 1.0 / x;
  results[8 * i] = floatBitsToUint(exp2(x));
  results[8 * i + 1] = floatBitsToUint(log2(x));
  results[8 * i + 2] = floatBitsToUint(sin(x));
  results[8 * i + 3] = floatBitsToUint(cos(x));
  results[8 * i + 4] = floatBitsToUint(quotient);
  results[8 * i + 5] = floatBitsToUint(inverse);
  results[8 * i + 6] = floatBitsToUint(sqrt(x));
  results[8 * i + 7] = floatBitsToUint(inversesqrt(x));
}
