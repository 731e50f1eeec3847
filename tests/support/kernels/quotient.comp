#version 450
#extension GL_GOOGLE_include_directive : require
// shaders/lib/numbers/quotient.glsl with doubles for what a GPU fuses: on any device that has them. In every
// other row what is fused takes subnormals as zeros, as on devices of which Target::normal_fma is known.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Rows { uvec4 rows[]; };  // operation, a, b, c
layout(std430, set = 0, binding = 1) buffer Results { uint results[]; };
uint zero;
bool flush;
// Mesa takes narrowing and widening for nothing, unless it cannot see that nothing is between them.
double wide(float x) { return double(uintBitsToFloat(floatBitsToUint(x) | zero)); }
float flushed(float x) {
  const uint bits = floatBitsToUint(x);
  return flush && (bits & 0x7f800000u) == 0u ? uintBitsToFloat(bits & 0x80000000u) : x;
}
/// Rounded to odd, so that rounding it again rounds once: sums next to the middle of two floats are tried.
double sum_to_odd(double a, double b) {
  precise double sum = a + b;
  precise double part = sum - a;
  precise double rest = (a - (sum - part)) + (b - part);
  uvec2 bits = unpackDouble2x32(sum);
  if (!(rest < 0.0 || rest > 0.0) || (bits.x & 1u) != 0u) return sum;
  const bool outward = (rest > 0.0) == (sum > 0.0);
  bits.y -= uint(!outward && bits.x == 0u);
  bits.x += outward ? 1u : 0xffffffffu;
  return packDouble2x32(bits);
}
float fused(float a, float b, float c) {
  precise double product = wide(flushed(a)) * wide(flushed(b));
  return flushed(float(sum_to_odd(product, wide(flushed(c)))));
}
#define FUSED(a, b, c) fused(a, b, c)
#define LW_INT64 0
#define LW_FLOAT64 0
#include "../../../runtime/layout/host_shader.h"
#include "base.glsl"
#include "numbers/int64.glsl"
#include "numbers/integer.glsl"
#include "numbers/rounding.glsl"
#include "numbers/float32.glsl"
#include "numbers/nearest.glsl"
#include "numbers/quotient.glsl"
#include "numbers/float16.glsl"
#include "numbers/nearest_wide.glsl"
#include "numbers/float64.glsl"
#include "numbers/convert.glsl"
#include "numbers/approx.glsl"
// What is not usual takes the slow path, which is tried above.
uint usual(bool is, uint result) { return is ? result : 0xdeadbeefu; }
/// A NaN where the two paths differ.
uint same(uint quick, uint slow) { return quick == slow ? quick : 0x7fc00000u; }
/// Rounded in a direction, 7 and so on: toward zero, down, up.
uint toward(const uvec4 row, const bool dominated) {
  const uint flags = row.x - (dominated ? 9u : 6u);
  return usual(dominated || lw_ffma_toward_is_usual_f32(row.y, row.z, row.w, flags),
               lw_ffma_toward_usual_f32(row.y, row.z, row.w, flags));
}
void main() {
  const uint i = gl_GlobalInvocationID.x;
  const uvec4 row = rows[i];
  zero = row.x >> 31;
  flush = (i & 1u) != 0u && row.x < 7u;
  uint result;
  if (row.x == 0u) result = lw_fdiv_fma_f32(row.y, row.z);
  else if (row.x == 1u) result = lw_fsqrt_fma_f32(row.y);
  else if (row.x == 2u) result = lw_frsqrt_fma_f32(row.y);
  else if (row.x == 3u) result = usual(lw_fdiv_is_usual_f32(row.y, row.z), lw_fdiv_usual_f32(row.y, row.z));
  else if (row.x == 4u) result = usual(lw_fsqrt_is_usual_f32(row.y), lw_fsqrt_usual_f32(row.y));
  else if (row.x == 5u) result = usual(lw_frsqrt_is_usual_f32(row.y), lw_frsqrt_usual_f32(row.y));
  else if (row.x == 6u) result = usual(lw_frcp_is_usual_f32(row.y), lw_frcp_usual_f32(row.y));
  else if (row.x <= 9u) result = toward(row, false);
  else if (row.x <= 12u) result = toward(row, true);
  else if (row.x == 13u) result = same(lw_fex2_is_usual_f32(row.y) ? lw_fex2_usual_f32(row.y) : lw_fex2_unusual_f32(row.y), lw_fex2_approx_f32(row.y, 0u));
  else result = usual(lw_flg2_is_usual_f32(row.y), same(lw_flg2_usual_f32(row.y), lw_flg2_approx_f32(row.y, 0u)));
  results[i] = result;
}
