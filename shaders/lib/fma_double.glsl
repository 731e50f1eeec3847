// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. The product is
// exact there; the sum is rounded to odd, so that the conversion to f32 is the only rounding (53 bits
// are enough over 24). That conversion is left to the caller, who can forbid compilers to drop it
// where the next fma converts back (they take narrowing and widening for nothing otherwise).
double fma_to_odd(const in uint a, const in uint b, const in uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  return add_to_odd(product, addend);
}
