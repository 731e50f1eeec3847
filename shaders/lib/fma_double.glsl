// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. The product is
// exact there; the sum is rounded to odd, so that the conversion back is the only rounding (53 bits
// are enough over 24).
uint fma_by_double(uint a, uint b, uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));
  precise double sum = product + addend;
  const bool finite = (unpackDouble2x32(sum).y & 0x7ff00000u) != 0x7ff00000u;
  const double odd = mix(sum, add_to_odd(product, addend), finite);
  return floatBitsToUint(float(odd));
}
