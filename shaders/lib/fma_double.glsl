// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. The product is
// exact there. The sum is rounded to a double, then to f32: that is wrong only where the double lies
// halfway between two f32 and is not the exact sum. Then its neighbour on the side of the exact sum
// is converted instead. Why each step is exact: docs/numerics.md. Some compilers for CPUs run both
// sides of a branch: no conversion waits for the compares.

uint fma_by_double(const in uint a, const in uint b, const in uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  precise double sum = product + addend;
  uint result = floatBitsToUint(float(sum));
  const uint64_t bits = bits_of(sum);
  if ((uint(bits) & 0x0fffffffu) == 0u) {  // every point halfway is one of these
    const uint up = floatBitsToUint(float(double_of(bits + step_up(bits))));
    const uint down = floatBitsToUint(float(double_of(bits - step_up(bits))));
    const uint lower = mix(result, down, sum_above(product, addend, sum));
    result = mix(lower, up, sum_below(product, addend, sum));
  }
  return result;
}
