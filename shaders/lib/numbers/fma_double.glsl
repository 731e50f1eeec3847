// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. The product is
// exact there. The sum is rounded to a double, then to f32: that is wrong only where the double lies
// halfway between two f32 and is not the exact sum, and then it is rounded to odd first. Why each step
// is exact: docs/numerics.md.
uint fma_by_double(const in uint a, const in uint b, const in uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  precise double sum = product + addend;
  float result = float(sum);
  // Halfway is where the highest of the 29 bits that are rounded away stands alone; subnormal results
  // have more of them.
  const bool halfway = (uint(bits_of(sum)) & 0x1fffffffu) == 0x10000000u;
  const bool tiny = abs(result) < 1.17549435e-38;
  if (either_of(halfway, tiny)) result = float(add_to_odd(product, addend));
  return floatBitsToUint(result);
}
/// For compilers that run both sides of every branch.
uint fma_by_double_straight(const in uint a, const in uint b, const in uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  return floatBitsToUint(float(add_to_odd(product, addend)));
}
