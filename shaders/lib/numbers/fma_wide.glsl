// f64 fma for devices that add and multiply doubles exactly but do not fuse. The product's rounding
// error comes from operands split in two (Dekker), the sum's from sums alone (Knuth). Adding both to
// the sum rounds twice; whether that may matter shows when slightly more and slightly less is added.
// If so, or where numbers are very large or small, fma_unusual does it all: with rounding to odd, so
// that the last sum is the only rounding (Boldo and Melquiond, 2008), with the numbers brought near
// by a power of two, and with one more rounding for results below the least normal number, with an
// eye on what the first lost. Some compilers for CPUs run both sides of every branch: it has none.
// Why each step is exact: docs/numerics.md.

/// The upper 26 of 53 bits. An `and` with a constant whose upper half is all ones becomes one of
/// words in Mesa 25, which are taken apart and put together again; LLVM makes one `and` of this.
double upper_bits(const in uint64_t x) {
  return double_of(((x >> 26) & 0x3ffffffffeUL) << 26);
}
/// a * b = product + error, exactly, when the error is no smaller than the least subnormal number.
/// Made of 26 bits of `a` and the other 27, and of 26 bits of `b` and 26 more with a sign. Not for a
/// `b` so large that its 26 bits are an infinity.
double product_error(const in double a, const in double b, const in double product) {
  const double ah = upper_bits(bits_of(a));
  const double bh = upper_bits(bits_of(b) + 0x4000000UL);
  precise double al = a - ah, bl = b - bh;
  precise double error = ((ah * bh - product) + ah * bl + al * bh) + al * bl;
  return error;
}
/// The same for large operands, too.
double masked_product_error(const in double a, const in double b, const in double product) {
  const double ah = upper_bits(bits_of(a)), bh = upper_bits(bits_of(b));
  precise double al = a - ah, bl = b - bh;  // 27 bits each: their product would need 54
  precise double b_even = double_of(bits_of(b) & ~uint64_t(1));
  precise double bl_even = b_even - bh, b_last = b - b_even;
  precise double error =
      ((((ah * bh - product) + ah * bl) + al * bh) + al * bl_even) + al * b_last;
  return error;
}

/// Multiples of 2^126, with what lies beyond r's last bit in `lost`; |r| < 2^178.
double round_tiny(const in double r, const in double lost, const in uint64_t sign) {
  const double magic = double_of(bits_of(power_of_two(178)) | sign);  // its last bit counts 2^126
  precise double rounded = magic + r;
  precise double off = r - (rounded - magic);
  precise double further = off * lost;  // positive: from a point halfway away from `rounded`
  const double nudged = double_of(bits_of(off) + uint64_t(further > 0.0lf));
  precise double result = (rounded + nudged) - magic;
  return double_of(bits_of(result) | sign);
}

double fma_unusual(const in double a, const in double b, const in double c,
                   const in double plain) {
  const uint64_t sign_bit = 0x8000000000000000UL;
  const double most = power_of_two(1000), least = power_of_two(-900);
  const double up = power_of_two(600), down = power_of_two(-600);
  const bool large = abs(plain) >= power_of_two(900), small = abs(plain) < power_of_two(-969);
  const double scale = mix(mix(1.0lf, up, small), down, large);
  const double back = mix(mix(1.0lf, down, small), up, large);
  precise double x = a * scale, y = b * scale, near_c = c * scale * scale;
  // An addend that scaling down would lose stays as something small.
  const double magnitude = abs(near_c), kept = mix(least, abs(c), abs(c) < least);
  const double held = mix(magnitude, kept, magnitude < kept);
  const double z = double_of(bits_of(held) | (bits_of(c) & sign_bit));

  precise double product = x * y;
  precise double sum = product + z;
  const double rest =
      add_to_odd(sum_error(product, z, sum), masked_product_error(x, y, product));
  precise double r = sum + rest;
  precise double lost = rest - (r - sum);
  // Scaled up, the least subnormal number is 2^126.
  const bool tiny = both_of(small, abs(r) < power_of_two(178));
  const double right = mix(r, round_tiny(r, lost, bits_of(r) & sign_bit), tiny);
  precise double result = right * back * back;
  // A far larger addend is the result; infinities, NaNs and zeros need no fusing.
  const bool number = both_of(abs(product) < most, abs(product) > 0.0lf);
  precise double other = plain + c;
  return mix(mix(other, c, number), result, both_of(number, magnitude < most));
}

/// With an addend of 2^-900 to 2^100, in one way for all numbers: a product below 2^-969 does not
/// change such an addend, whatever its error comes out as, and products that overflow do so with it.
/// A factor of 1 and more is brought down by 2^8, so that the sum of what overflows only then is
/// right, too.
double fma_mild_straight(const in double a, const in double b, const in double c) {
  const bool large = abs(b) >= 1.0lf;
  const double infinity = double_of(0x7ffUL << 52);
  const double down = mix(1.0lf, power_of_two(-8), large), back = mix(1.0lf, power_of_two(8), large);
  const double limit = mix(infinity, power_of_two(1020), large);
  precise double y = b * down, z = c * down;

  precise double product = a * y;
  const double error = product_error(a, y, product);
  precise double sum = product + z;
  precise double fused = sum + add_to_odd(sum_error(product, z, sum), error);
  precise double result = mix(sum, fused, abs(sum) < limit) * back;
  return result;
}

/// Rounded twice, and whether that was as good as once while the product's error is exact; `sum` is
/// the first of the two.
double fma_tried(const in double a, const in double b, const in double c,
                 const in double product, out double sum, out bool sure) {
  precise double first = product + c;
  precise double rest = sum_error(product, c, first) + product_error(a, b, product);
  precise double result = first + rest;
  const double unit = power_of_two(-52);
  precise double more = first + rest * (1.0lf + unit), less = first + rest * (1.0lf - unit);
  precise double apart = more - less;
  sum = first;
  sure = apart == 0.0lf;  // not for infinities
  return result;
}

/// Where compilers run both sides of a branch, trying first saves nothing.
double fma_wide_straight(const in double a, const in double b, const in double c) {
  precise double product = a * b;
  return fma_unusual(a, b, c, product);
}
double fma_wide(const in double a, const in double b, const in double c) {
  precise double product = a * b;
  double sum;
  bool sure;
  double result = fma_tried(a, b, c, product, sum, sure);
  const bool large_enough =
      either_of(abs(product) >= power_of_two(-969), abs(sum) >= power_of_two(-900));
  if (!both_of(large_enough, sure)) result = fma_unusual(a, b, c, product);
  return result;
}
/// Such an addend is large enough itself.
double fma_wide_mild(const in double a, const in double b, const in double c) {
  precise double product = a * b;
  double sum;
  bool sure;
  double result = fma_tried(a, b, c, product, sum, sure);
  if (!sure) result = fma_mild_straight(a, b, c);
  return result;
}
