// f64 fma for devices that add and multiply doubles exactly but do not fuse. The product's rounding
// error comes from operands split in two (Dekker), the first sum's from sums alone (Knuth); these two
// are added with rounding to odd, so that the last sum is the only rounding (Boldo and Melquiond,
// 2008). Numbers too large or too small for that are brought near by a power of two, and results
// below the least normal number are rounded once more, with an eye on what the first rounding lost.
// Some compilers for CPUs run both sides of every branch: the unusual numbers therefore have no
// sequence of their own, only steps before and behind the common one. Why each step is exact:
// docs/numerics.md.

double power_of_two(const in int n) { return double_of(uint64_t(n + 1023) << 52); }
/// c ? a : b as one select instruction.
double choose(const in bool c, const in double a, const in double b) { return mix(b, a, c); }
bool and_too(const in bool a, const in bool b) { return (uint(a) & uint(b)) != 0u; }

/// a * b = product + error, exactly, when the error is no smaller than the least subnormal number.
double product_error(const in double a, const in double b, const in double product) {
  const uint64_t top = 0xfffffffff8000000UL;  // 26 of the 53 bits
  precise double ah = double_of(bits_of(a) & top), bh = double_of(bits_of(b) & top);
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

double fma_wide(const in double a, const in double b, const in double c) {
  const uint64_t sign_bit = 0x8000000000000000UL;
  const double most = power_of_two(1000), least = power_of_two(-900);
  precise double plain = a * b;
  const double size = abs(plain);
  const bool middle = and_too(size >= power_of_two(-969), size < power_of_two(900));
  const bool usual = and_too(middle, abs(c) < most);
  double x = a, y = b, z = c, back = 1.0lf, magnitude = 0.0lf;
  if (!usual) {
    const double up = power_of_two(600), down = power_of_two(-600);
    const double scale = choose(middle, 1.0lf, choose(size < 1.0lf, up, down));
    back = choose(middle, 1.0lf, choose(size < 1.0lf, down, up));
    precise double near_a = a * scale, near_b = b * scale, near_c = c * scale * scale;
    x = near_a;
    y = near_b;
    magnitude = abs(near_c);
    // An addend that scaling down would lose stays as something small.
    const double kept = choose(abs(c) < least, abs(c), least);
    const double held = choose(magnitude < kept, kept, magnitude);
    z = double_of(bits_of(held) | (bits_of(c) & sign_bit));
  }

  precise double product = x * y;
  precise double sum = product + z;
  const double rest = add_to_odd(sum_error(product, z, sum), product_error(x, y, product));
  precise double r = sum + rest;

  if (!usual) {
    precise double lost = rest - (r - sum);
    // Scaled up, the least subnormal number is 2^126.
    const bool tiny = and_too(back < 1.0lf, abs(r) < power_of_two(178));
    const double right = choose(tiny, round_tiny(r, lost, bits_of(r) & sign_bit), r);
    precise double result = right * back * back;
    // A far larger addend is the result; infinities, NaNs and zeros need no fusing.
    const bool number = and_too(abs(product) < most, abs(product) > 0.0lf);
    precise double other = plain + c;
    r = choose(and_too(number, magnitude < most), result, choose(number, c, other));
  }
  return r;
}
