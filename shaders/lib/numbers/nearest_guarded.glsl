// f32 fma on devices whose own is exact but for subnormals, which they may take for zeros or round to
// zeros (Target::normal_fma: seen of NVIDIA's driver).

bool near_zero(const in uint x) { return (x & 0x7fffffffu) <= 0x00800000u; }
bool is_subnormal(const in uint x) { return (x & 0x7fffffffu) - 1u < 0x007fffffu; }

uint lw_ffma_guarded_f32(const in uint a, const in uint b, const in uint c) {
  uint fused = floatBitsToUint(fma(uintBitsToFloat(a), uintBitsToFloat(b), uintBitsToFloat(c)));
  const uint size = 0x7fffffffu;
  // Zeros become the largest word.
  uint least = min(min((a & size) - 1u, (b & size) - 1u), (c & size) - 1u);
  if (least < 0x007fffffu || near_zero(fused)) {
    bool no_product = is_zero_word(a) + is_zero_word(b) != 0u;  // then the addend is left, as it is
    if (!no_product || is_subnormal(c)) fused = lw_ffma_rn_f32(a, b, c);
  }
  return fused;
}
