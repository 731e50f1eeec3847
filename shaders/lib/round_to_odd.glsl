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

/// On which side of a rounded sum the exact one lies; on neither for infinities and NaNs. One of the
/// differences is exact, the other may say "equal": docs/numerics.md.
bool sum_below(const in double a, const in double b, const in double sum) {
  precise double no_a = sum - a, no_b = sum - b;
  return either_of(b > no_a, a > no_b);
}
bool sum_above(const in double a, const in double b, const in double sum) {
  precise double no_a = sum - a, no_b = sum - b;
  return either_of(b < no_a, a < no_b);
}

/// What leads to the next number toward +infinity if it is added to the bits; not for zeros.
uint64_t step_up(const in uint64_t bits) { return uint64_t(int64_t(bits) >> 63) | 1UL; }

double add_to_odd(const in double a, const in double b) {
  precise double sum = a + b;
  const uint64_t bits = bits_of(sum);
  const uint64_t step = mix(step_up(bits), 0UL, (uint(bits) & 1u) != 0u);
  const uint64_t lower = mix(bits, bits - step, sum_above(a, b, sum));
  return double_of(mix(lower, bits + step, sum_below(a, b, sum)));
}
