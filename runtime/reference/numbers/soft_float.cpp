#include "runtime/reference/numbers/soft_float.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace lanewise::reference {
namespace {

using ir::Round;
using Class = Number::Class;

int highest_bit(u128 v) {  // of a non-zero value
  const auto high = static_cast<uint64_t>(v >> 64);
  return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<uint64_t>(v));
}

Number make(Class cls, bool sign) {
  return {cls, sign};
}
Number finite(bool sign, int exp, u128 sig) {
  return {sig == 0 ? Class::zero : Class::finite, sign, exp, sig};
}

/// Shifts right; what falls off leaves its trace in the lowest bit.
u128 shift_right_sticky(u128 v, int n) {
  if (n == 0) return v;
  if (n > 127) return v != 0;
  const u128 lost = v & ((u128{1} << n) - 1);
  return v >> n | u128{lost != 0};
}

/// sig / 2^shift as an integer, rounded; shift >= 1.
u128 round_shift(u128 sig, int shift, bool sign, Round round) {
  // Two guard bits are enough: half and sticky.
  const u128 scaled = shift >= 2 ? shift_right_sticky(sig, shift - 2) : sig << 1;
  const u128 whole = scaled >> 2;
  const auto rest = static_cast<unsigned>(scaled & 3);
  if (rest == 0) return whole;
  switch (round) {
    case Round::rn:
      return whole + u128{rest > 2 || (rest == 2 && (whole & 1) != 0)};
    case Round::rna:
      return whole + u128{rest >= 2};
    case Round::rz:
      return whole;
    case Round::rm:
      return whole + u128{sign};
    case Round::rp:
      return whole + u128{!sign};
  }
  return whole;
}

uint64_t overflow(const Format& f, bool sign, Round round) {
  const bool to_infinity = round == Round::rn || round == Round::rna ||
                           (round == Round::rm && sign) || (round == Round::rp && !sign);
  return f.infinity() - (to_infinity ? 0 : 1);
}

uint64_t pack_finite(const Format& f, const Number& n, Round round, bool flush) {
  const int smallest_ulp = flush ? std::numeric_limits<int>::min() : 1 - f.bias - f.fraction;
  int ulp = std::max(n.exp + highest_bit(n.sig) - f.fraction, smallest_ulp);
  u128 q = ulp > n.exp ? round_shift(n.sig, ulp - n.exp, n.sign, round) : n.sig << (n.exp - ulp);
  if (q >> (f.fraction + 1) != 0) {  // rounded up to the next power of two
    q >>= 1;
    ++ulp;
  }
  if (q >> f.fraction == 0) return static_cast<uint64_t>(q);  // zero or subnormal
  const int biased = ulp + f.fraction + f.bias;
  if (biased <= 0) return 0;
  if (biased > 2 * f.bias) return overflow(f, n.sign, round);
  const uint64_t hidden = uint64_t{1} << f.fraction;
  return uint64_t(biased) << f.fraction | (static_cast<uint64_t>(q) & (hidden - 1));
}

/// Brings the highest bit to position 125, so that a sum fits and no bit is lost on the left.
void normalise(Number& n) {
  const int up = 125 - highest_bit(n.sig);
  n.sig = up >= 0 ? n.sig << up : shift_right_sticky(n.sig, -up);
  n.exp -= up;
}

Number add_finite(Number a, Number b, Round round) {
  normalise(a);
  normalise(b);
  if (a.exp < b.exp || (a.exp == b.exp && a.sig < b.sig)) std::swap(a, b);
  b.sig = shift_right_sticky(b.sig, std::min(a.exp - b.exp, 200));
  if (a.sign == b.sign) return finite(a.sign, a.exp, a.sig + b.sig);
  if (a.sig == b.sig) return make(Class::zero, round == Round::rm);
  return finite(a.sign, a.exp, a.sig - b.sig);
}

u128 integer_sqrt(u128 v, bool& exact) {
  u128 root = 0, rest = v;
  for (u128 bit = u128{1} << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  exact = rest == 0;
  return root;
}

}  // namespace

Number unpack(const Format& f, uint64_t bits) {
  const bool sign = (bits & f.sign_bit()) != 0;
  const uint64_t magnitude = f.magnitude(bits);
  if (magnitude > f.infinity()) return make(Class::nan, false);
  if (magnitude == f.infinity()) return make(Class::inf, sign);
  if (magnitude == 0) return make(Class::zero, sign);
  const uint64_t hidden = uint64_t{1} << f.fraction;
  const auto biased = static_cast<int>(magnitude >> f.fraction);
  const uint64_t sig = (magnitude & (hidden - 1)) | (biased != 0 ? hidden : 0);
  return finite(sign, std::max(biased, 1) - f.bias - f.fraction, sig);
}

uint64_t pack(const Format& f, const Number& n, Round round, bool flush) {
  const uint64_t sign = n.sign ? f.sign_bit() : 0;
  switch (n.cls) {
    case Class::nan:
      return f.nan;
    case Class::inf:
      return sign | f.infinity();
    case Class::zero:
      return sign;
    case Class::finite:
      break;
  }
  return sign | pack_finite(f, n, round, flush);
}

Number add(Number a, Number b, Round round) {
  if (a.cls == Class::nan || b.cls == Class::nan) return make(Class::nan, false);
  if (a.cls == Class::inf && b.cls == Class::inf && a.sign != b.sign)
    return make(Class::nan, false);
  if (a.cls == Class::inf) return a;
  if (b.cls == Class::inf) return b;
  if (a.cls == Class::zero && b.cls == Class::zero) {
    return make(Class::zero, a.sign == b.sign ? a.sign : round == Round::rm);
  }
  if (a.cls == Class::zero) return b;
  if (b.cls == Class::zero) return a;
  return add_finite(a, b, round);
}

Number multiply(const Number& a, const Number& b) {
  const bool sign = a.sign != b.sign;
  if (a.cls == Class::nan || b.cls == Class::nan) return make(Class::nan, false);
  if (a.cls == Class::inf || b.cls == Class::inf) {
    return make(a.cls == Class::zero || b.cls == Class::zero ? Class::nan : Class::inf, sign);
  }
  return finite(sign, a.exp + b.exp, a.sig * b.sig);  // at most 53 + 53 bits
}

Number divide(const Number& a, const Number& b) {
  const bool sign = a.sign != b.sign;
  if (a.cls == Class::nan || b.cls == Class::nan || (a.cls == b.cls && a.cls != Class::finite)) {
    return make(Class::nan, false);
  }
  if (a.cls == Class::inf || b.cls == Class::zero) return make(Class::inf, sign);
  if (a.cls == Class::zero || b.cls == Class::inf) return make(Class::zero, sign);
  // Dividend with its highest bit at 126, divisor of at most 53 bits: 73 quotient bits or more.
  const int up = 126 - highest_bit(a.sig);
  const u128 dividend = a.sig << up;
  const u128 quotient = dividend / b.sig;
  return finite(sign, a.exp - up - b.exp, quotient | u128{dividend % b.sig != 0});
}

Number square_root(const Number& a) {
  if (a.cls == Class::nan || a.cls == Class::zero) return a;
  if (a.sign) return make(Class::nan, false);
  if (a.cls == Class::inf) return a;
  int up = 126 - highest_bit(a.sig);
  if ((a.exp - up) % 2 != 0) --up;
  bool exact = false;
  const u128 root = integer_sqrt(a.sig << up, exact);
  // 63 or more bits of root; one more position below them carries "not exact".
  return finite(false, (a.exp - up) / 2 - 1, root << 1 | u128{!exact});
}

Number round_to_integral(const Number& a, Round round) {
  if (a.cls != Class::finite || a.exp >= 0) return a;
  return finite(a.sign, 0, round_shift(a.sig, -a.exp, a.sign, round));
}

Number from_integer(bool sign, uint64_t magnitude) {
  return finite(sign && magnitude != 0, 0, magnitude);
}

}  // namespace lanewise::reference
