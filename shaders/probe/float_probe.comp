#version 450
// Computes each float operation natively on chosen inputs; the host compares the bits.
// WIDE selects double instead of float.
layout(local_size_x = 64) in;

#if WIDE
#define FLOAT double
#define BITS uvec2
#define FROM_BITS packDouble2x32
#define TO_BITS unpackDouble2x32
#define WORD(x) uvec2(x, 0u)
#else
#define FLOAT float
#define BITS uint
#define FROM_BITS uintBitsToFloat
#define TO_BITS floatBitsToUint
#define WORD(x) x
#endif

layout(std430, binding = 0) readonly buffer Inputs { BITS inputs[]; };
layout(std430, binding = 1) writeonly buffer Results { BITS results[]; };

const uint kOperations = 6;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= inputs.length() / 3) return;
  const FLOAT a = FROM_BITS(inputs[3 * i]);
  const FLOAT b = FROM_BITS(inputs[3 * i + 1]);
  const FLOAT c = FROM_BITS(inputs[3 * i + 2]);
  // `precise` decorates each operation NoContraction, as translated kernels do.
  precise const FLOAT fused = fma(a, b, c);
  precise const FLOAT quotient = a / b;
  precise const FLOAT root = sqrt(a);
  precise const FLOAT sum = a + b;
  precise const FLOAT product = a * b;
  const uint relation = (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a == b ? 4u : 0u) |
                        (a > b ? 8u : 0u) | (a >= b ? 16u : 0u) | (a != b ? 32u : 0u);
  results[kOperations * i] = TO_BITS(fused);
  results[kOperations * i + 1] = TO_BITS(quotient);
  results[kOperations * i + 2] = TO_BITS(root);
  results[kOperations * i + 3] = TO_BITS(sum);
  results[kOperations * i + 4] = TO_BITS(product);
  results[kOperations * i + 5] = WORD(relation);
}
