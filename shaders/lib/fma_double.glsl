// f32 fma by way of doubles, for devices that compute doubles exactly but do not fuse. Rounding a
// double's sum once more would round twice; a sum rounded to odd keeps what was lost visible in its
// last bit, so that the second rounding is the only one (53 bits are enough over 24).
uint fma_by_double(uint a, uint b, uint c) {
  const double addend = double(uintBitsToFloat(c));
  precise double product = double(uintBitsToFloat(a)) * double(uintBitsToFloat(b));  // exact
  precise double sum = product + addend;
  precise double part = sum - product;
  precise double lost = (product - (sum - part)) + (addend - part);
  uvec2 bits = unpackDouble2x32(sum), rest = unpackDouble2x32(lost);
  uint finite = uint((bits.y & 0x7ff00000u) != 0x7ff00000u);
  uint inexact = uint(((rest.y & 0x7fffffffu) | rest.x) != 0u);
  uint step = finite & inexact & (bits.x ^ 1u);      // bit 0: an even last bit must become odd,
  uint down = 0u - (step & ((bits.y ^ rest.y) >> 31));  // downwards when the sum was rounded up
  bits.y += down & (0u - uint(bits.x == 0u));
  bits.x += step | down;
  return floatBitsToUint(float(packDouble2x32(bits)));
}
