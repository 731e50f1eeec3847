// Sums of doubles rounded to odd: what was lost stays visible in the last bit, so that rounding once
// more to fewer bits (two fewer at least) gives what rounding the exact sum would have given.

uint64_t bits_of(const in double x) { return doubleBitsToUint64(x); }
double double_of(const in uint64_t x) { return uint64BitsToDouble(x); }

/// a + b = sum + error, exactly (Knuth).
double sum_error(const in double a, const in double b, const in double sum) {
  precise double part = sum - a;
  precise double error = (a - (sum - part)) + (b - part);
  return error;
}

/// An infinite or NaN sum has lost NaN, which is no more than zero: it stays as it is.
double add_to_odd(const in double a, const in double b) {
  precise double sum = a + b;
  const double lost = sum_error(a, b, sum);
  const uint64_t bits = bits_of(sum);
  const uint64_t inexact = uint64_t(abs(lost) > 0.0lf);
  const uint64_t away = (bits ^ bits_of(lost)) >> 63;  // 1: the sum was rounded away from zero
  return double_of((bits - (inexact & away)) | inexact);
}
