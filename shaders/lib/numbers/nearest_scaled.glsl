// f32 sums, rounded to nearest even with subnormals kept, on devices whose own sums are exact but for
// subnormals: those may be zeros to them, as operands and as results.

const uint SCALE = 64u << 23;       // what an exponent gains in scaled numbers: 2^64
const uint LEAST_SCALED = 65u << 23;  // the least normal number, scaled; a float of 2^-62

/// A finite number below 2^-59 times 2^64: never subnormal. Larger ones give anything.
float scaled_up(const in uint x) {
  uint magnitude = x & 0x7fffffffu;
  // The fraction behind the leading one of 2^-62 counts as a subnormal's does, scaled.
  precise float tiny =
      uintBitsToFloat((magnitude & 0x7fffffu) | LEAST_SCALED) - uintBitsToFloat(LEAST_SCALED);
  uint bits = pick(magnitude < 0x800000u, floatBitsToUint(tiny), magnitude + SCALE);
  return uintBitsToFloat(bits | (x & 0x80000000u));
}

uint scaled_down(const in float x) {
  uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu;
  precise float behind = uintBitsToFloat(magnitude) + uintBitsToFloat(LEAST_SCALED);
  uint result =
      pick(magnitude < LEAST_SCALED, floatBitsToUint(behind) & 0x7fffffu, magnitude - SCALE);
  return result | (bits & 0x80000000u);
}

/// Where an operand reaches 2^-59, no sum is subnormal (unequal numbers of which one is that large
/// differ by 2^-83 at least), and a subnormal operand changes nothing. Sums of smaller ones that are
/// subnormal are exact, so that scaling down rounds nothing.
uint lw_fadd_scaled_rn_f32(const in uint a, const in uint b) {
  precise float sum = uintBitsToFloat(a) + uintBitsToFloat(b);
  precise float scaled = scaled_up(a) + scaled_up(b);
  uint larger = max(a & 0x7fffffffu, b & 0x7fffffffu), bits = floatBitsToUint(sum);
  uint result = pick(larger < (68u << 23), scaled_down(scaled), bits);
  return pick((result & 0x7fffffffu) > 0x7f800000u, NAN32, result);
}
