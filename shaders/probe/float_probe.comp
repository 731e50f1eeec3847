#version 450
#extension GL_EXT_spirv_intrinsics : require
// Computes each float operation natively on chosen inputs; the host compares the bits.
// WIDE selects double instead of float.
layout(local_size_x = 64) in;

#if WIDE
#define FLOAT double
#define BITS uvec2
#define FROM_BITS packDouble2x32
#define TO_BITS unpackDouble2x32
#define WORD(x) uvec2(x, 0u)
#define LOW(v) (v).x
#else
#define FLOAT float
#define BITS uint
#define FROM_BITS uintBitsToFloat
#define TO_BITS floatBitsToUint
#define WORD(x) x
#define LOW(v) v
#endif

// A NaN loses; GLSL's own min and max leave that open.
spirv_instruction(set = "GLSL.std.450", id = 79) FLOAT smaller(FLOAT a, FLOAT b);
spirv_instruction(set = "GLSL.std.450", id = 80) FLOAT larger(FLOAT a, FLOAT b);

layout(std430, binding = 0) readonly buffer Inputs { BITS inputs[]; };
layout(std430, binding = 1) writeonly buffer Results { BITS results[]; };

const uint kOperations = 20;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= inputs.length() / 3) return;
  const FLOAT a = FROM_BITS(inputs[3 * i]);
  const FLOAT b = FROM_BITS(inputs[3 * i + 1]);
  const FLOAT c = FROM_BITS(inputs[3 * i + 2]);
  const uint word = LOW(inputs[3 * i]);
  // `precise` decorates each operation NoContraction, as translated kernels do.
  precise const FLOAT fused = fma(a, b, c);
  precise const FLOAT quotient = a / b;
  precise const FLOAT root = sqrt(a);
  precise const FLOAT sum = a + b;
  precise const FLOAT product = a * b;
  const uint relation = (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a == b ? 4u : 0u) |
                        (a > b ? 8u : 0u) | (a >= b ? 16u : 0u) | (a != b ? 32u : 0u) |
                        (isnan(a) ? 64u : 0u);
  const bool fits_int = a >= FLOAT(-2147483648.0) && a < FLOAT(2147483648.0);
  const bool fits_uint = a > FLOAT(-1.0) && a < FLOAT(4294967296.0);
  const uint at = kOperations * i;
  results[at] = TO_BITS(fused);
  results[at + 1] = TO_BITS(quotient);
  results[at + 2] = TO_BITS(root);
  results[at + 3] = TO_BITS(sum);
  results[at + 4] = TO_BITS(product);
  results[at + 5] = WORD(relation);
  results[at + 6] = TO_BITS(smaller(a, b));
  results[at + 7] = TO_BITS(larger(a, b));
  results[at + 8] = TO_BITS(trunc(a));
  results[at + 9] = TO_BITS(floor(a));
  results[at + 10] = TO_BITS(ceil(a));
  results[at + 11] = TO_BITS(roundEven(a));
  results[at + 12] = WORD(uint(int(fits_int ? a : FLOAT(0.0))));
  results[at + 13] = WORD(uint(fits_uint ? a : FLOAT(0.0)));
  results[at + 14] = TO_BITS(FLOAT(int(word)));
  results[at + 15] = TO_BITS(FLOAT(word));
#if WIDE
  results[at + 16] = uvec2(floatBitsToUint(float(a)), 0u);
  results[at + 17] = TO_BITS(double(uintBitsToFloat(word)));
  results[at + 18] = TO_BITS(double(float(a)));
#else
  // Both halves of the word as f16.
  const vec2 halves = unpackHalf2x16(word);
  results[at + 16] = 0u;
  results[at + 17] = floatBitsToUint(halves.x);
  results[at + 18] = floatBitsToUint(halves.y);
#endif
  precise const FLOAT chained = fma(fused, b, c);
  results[at + 19] = TO_BITS(chained);
}
