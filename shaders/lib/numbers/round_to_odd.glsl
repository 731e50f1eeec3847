// Sums of doubles rounded to odd: what was lost stays visible in the last bit, so that rounding once
// more to fewer bits (two fewer at least) gives what rounding the exact sum would have given.

uint64_t bits_of(const in double x) { return doubleBitsToUint64(x); }
double double_of(const in uint64_t x) { return uint64BitsToDouble(x); }
double power_of_two(const in int n) { return double_of(uint64_t(n + 1023) << 52); }
bool either_of(const in bool a, const in bool b) { return (uint(a) | uint(b)) != 0u; }
bool both_of(const in bool a, const in bool b) { return (uint(a) & uint(b)) != 0u; }

/// a + b = sum + error, exactly (Knuth).
double sum_error(const in double a, const in double b, const in double sum) {
  precise double part = sum - a;
  precise double error = (a - (sum - part)) + (b - part);
  return error;
}

/// Both differences are 0 or have the sign of the error, which the next steps need sooner than whether
/// there is one. An infinity leaves a NaN: no error. Why: docs/numerics.md.
double add_to_odd(const in double a, const in double b) {
  precise double sum = a + b;
  precise double of_a = a - (sum - b), of_b = b - (sum - a);
  const uint64_t bits = bits_of(sum), signs = bits_of(of_a) | bits_of(of_b);
  const uint64_t inward = uint64_t(int64_t(bits ^ signs) >> 63);
  precise double error = of_a + of_b;
  return double_of(mix(bits, (bits + inward) | 1UL, abs(error) > 0.0lf));
}
