// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. The product is
// exact there. The sum is rounded to a double, then to f32: that is wrong only where the double lies
// halfway between two f32 and is not the exact sum. Then its neighbour on the side of the exact sum
// is converted instead. Why each step is exact: docs/numerics.md. Some compilers for CPUs run both
// sides of a branch: no conversion waits for the compares.

/// Toward +infinity; not for zeros.
double next_up(const in uint64_t x) { return double_of(x + (uint64_t(int64_t(x) >> 63) | 1UL)); }
double next_down(const in uint64_t x) { return double_of(x - (uint64_t(int64_t(x) >> 63) | 1UL)); }
bool either_of(const in bool a, const in bool b) { return (uint(a) | uint(b)) != 0u; }

uint fma_by_double(const in uint a, const in uint b, const in uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  precise double sum = product + addend;
  uint result = floatBitsToUint(float(sum));
  const uint64_t bits = bits_of(sum);
  if ((uint(bits) & 0x0fffffffu) == 0u) {  // every point halfway is one of these
    precise double no_product = sum - product, no_addend = sum - addend;
    const bool below = either_of(addend > no_product, product > no_addend);
    const bool above = either_of(addend < no_product, product < no_addend);
    const uint up = floatBitsToUint(float(next_up(bits)));
    const uint down = floatBitsToUint(float(next_down(bits)));
    result = mix(mix(result, down, above), up, below);
  }
  return result;
}
