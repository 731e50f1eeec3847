// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. The product is
// exact there. The sum is rounded to a double, then to f32: that is wrong only where the double lies
// halfway between two f32 and is not the exact sum. Then something on the side of the exact sum is
// converted instead. Why each step is exact: docs/numerics.md. Some compilers for CPUs run both
// sides of a branch: no conversion waits for the compares.
uint fma_by_double(const in uint a, const in uint b, const in uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  precise double sum = product + addend;
  uint result = floatBitsToUint(float(sum));
  if ((uint(bits_of(sum)) & 0x0fffffffu) == 0u) {  // every point halfway is one of these
    precise double little = abs(sum) * power_of_two(-40), more = sum + little, less = sum - little;
    const uint up = floatBitsToUint(float(more)), down = floatBitsToUint(float(less));
    const uint lower = mix(result, down, sum_above(product, addend, sum));
    result = mix(lower, up, sum_below(product, addend, sum));
  }
  return result;
}
