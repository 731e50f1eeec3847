#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/vulkan/probe/target_probe.hpp"

namespace lanewise::vulkan {
namespace {

template <typename Bits>
using FloatOf = std::conditional_t<sizeof(Bits) == 4, float, double>;

template <typename Bits>
FloatOf<Bits> value(Bits bits) {
  return std::bit_cast<FloatOf<Bits>>(bits);
}
uint32_t bits_of(float f) {
  return std::bit_cast<uint32_t>(f);
}
uint64_t bits_of(double f) {
  return std::bit_cast<uint64_t>(f);
}

/// splitmix64: the same sequence everywhere.
class Random {
 public:
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() >> 32) % n; }

 private:
  uint64_t state_ = 20240229;
};

/// One format's inputs; F is float or double.
template <typename Bits>
class Inputs {
 public:
  using F = FloatOf<Bits>;
  using Limits = std::numeric_limits<F>;
  static constexpr int kDigits = Limits::digits;  // 24 or 53
  static constexpr int kMantissa = kDigits - 1;
  static constexpr int kBias = Limits::max_exponent - 1;
  static constexpr int kMinExponent = Limits::min_exponent - 1;  // of the smallest normal
  static constexpr Bits kMantissaMask = (Bits{1} << kMantissa) - 1;

  std::vector<ProbeInput<Bits>> all() {
    add_specials();
    add_fused();
    add_sticky();
    add_quotients();
    add_roots();
    add_subnormal_results();
    add_integral();
    if constexpr (sizeof(Bits) == 8) add_narrow();
    for (int i = 0; i < 6000; ++i) list_.push_back({word(), word(), word()});
    return std::move(list_);
  }

 private:
  void add(F a, F b, F c) { list_.push_back({bits_of(a), bits_of(b), bits_of(c)}); }
  Bits word() { return static_cast<Bits>(random_.next() >> (64 - 8 * sizeof(Bits))); }
  F with_exponent(int biased) {
    const Bits sign = word() & (Bits{1} << (8 * sizeof(Bits) - 1));
    return value<Bits>(sign | (word() & kMantissaMask) | static_cast<Bits>(biased) << kMantissa);
  }
  /// Near 1, so that products and quotients neither overflow nor vanish.
  F moderate() { return with_exponent(kBias - 15 + static_cast<int>(random_.below(30))); }
  F subnormal() { return value<Bits>(word() & kMantissaMask); }
  static F ulps(F from, int count) { return value<Bits>(bits_of(from) + static_cast<Bits>(count)); }

  void add_specials() {
    const F normal = Limits::min();
    const F special[] = {0,
                         Limits::denorm_min(),
                         2 * Limits::denorm_min(),
                         ulps(normal, -1),
                         normal,
                         ulps(normal, 1),
                         F(0.5),
                         ulps(1, -1),
                         1,
                         ulps(1, 1),
                         F(1.5),
                         2,
                         3,
                         std::ldexp(F(1), kDigits),
                         ulps(std::ldexp(F(1), kDigits), -1),
                         Limits::max() / 2,
                         Limits::max(),
                         Limits::infinity(),
                         Limits::quiet_NaN()};
    uint32_t turn = 0;
    const uint32_t count = std::size(special);
    for (F a : special) {
      for (F b : special) {
        for (uint32_t signs = 0; signs < 4; ++signs) {
          const F c = special[turn % count] * ((turn / count) % 2 == 0 ? F(1) : F(-1));
          add((signs & 1) != 0 ? -a : a, (signs & 2) != 0 ? -b : b, c);
          ++turn;
        }
        add(a, b, -(a * b));  // cancels exactly, or leaves what the product's rounding lost
      }
    }
  }

  /// fma(a, b, -round(a * b)) is the rounding error of the product: 0 when not fused.
  void add_fused() {
    for (int i = 0; i < 1500; ++i) {
      const F a = moderate(), b = moderate();
      add(a, b, -(a * b));
      add(a, b, std::nextafter(-(a * b), F(0)));
    }
  }

  /// The exact product lies halfway between two numbers; a far smaller addend decides.
  void add_sticky() {
    const F tiny = Limits::denorm_min();
    const int shrink = (kMinExponent - kDigits) / 2;
    for (int i = 0; i < 600; ++i) {
      // Odd factors whose product has exactly one bit more than the format keeps.
      const F a = std::ldexp(F(1), kDigits / 2) + F(1 + 2 * random_.below(500));
      const F b = std::ldexp(F(1), kDigits - kDigits / 2) + F(1 + 2 * random_.below(500));
      const F least = std::ldexp(F(1), -20 - static_cast<int>(random_.below(100)));
      const F sign = i % 2 == 0 ? F(1) : F(-1);
      add(a, b, sign * least);
      add(a, b, 0);
      add(std::ldexp(a, shrink), std::ldexp(b, shrink), sign * tiny);
    }
  }

  /// Quotients close to the middle between two numbers, of all sizes, subnormal ones too.
  void add_quotients() {
    for (int i = 0; i < 1500; ++i) {
      const F divisor = moderate(), quotient = moderate();
      const long double middle = quotient * (1.0L + std::ldexp(1.0L, -kDigits));
      const F dividend = static_cast<F>(middle * divisor);
      add(dividend, divisor, quotient);
      add(std::nextafter(dividend, F(0)), divisor, 0);
      add(std::ldexp(dividend, kMinExponent + 1),
          std::ldexp(divisor, static_cast<int>(random_.below(20))), 0);
      add(subnormal(), divisor, 0);
      add(divisor, subnormal(), 0);
    }
  }

  /// Roots close to the middle between two numbers, perfect squares, and subnormals.
  void add_roots() {
    for (int i = 0; i < 1500; ++i) {
      const long double root = std::abs(moderate());
      const long double middle = root * (1.0L + std::ldexp(1.0L, -kDigits));
      const F square = static_cast<F>(middle * middle);
      add(square, 1, 0);
      add(std::nextafter(square, F(0)), 1, 0);
      const F whole = F(random_.below(1U << (kDigits / 2)));
      add(whole * whole, 1, 0);
      add(subnormal(), 1, 0);
      add(std::abs(with_exponent(static_cast<int>(random_.below(2 * kBias)))), 1, 0);
    }
  }

  /// Sums and products whose results are subnormal or round into the normal range.
  void add_subnormal_results() {
    const int low = kBias + kMinExponent / 2 - kDigits / 4;
    for (int i = 0; i < 1000; ++i) {
      const F x = value<Bits>(word() & (2 * kMantissaMask + 1));
      const F y = value<Bits>(word() & (2 * kMantissaMask + 1));
      add(x, -y, x);
      add(x, y, -y);
      add(with_exponent(low + static_cast<int>(random_.below(8))), with_exponent(low), y);
    }
  }

  /// Halves and their neighbours, the limits of 32-bit integers, signalling NaNs.
  void add_integral() {
    for (int i = 0; i < 400; ++i) {
      const auto whole = static_cast<F>(random_.below(1U << random_.below(24)));
      const F half = (i % 2 == 0 ? F(1) : F(-1)) * (whole + F(0.5));
      for (int step = -1; step <= 1; ++step) add(ulps(half, step), ulps(half, -step), whole);
    }
    for (const F limit : {F(2147483648.0), F(-2147483648.0), F(4294967296.0), F(-1)})
      for (int step = -2; step <= 2; ++step) {
        add(ulps(limit, step), limit, 0);
        add(ulps(limit / 2, step), limit, 0);
      }
    const Bits signalling = bits_of(Limits::infinity()) + 1;
    for (const F x : {F(-1), F(0), F(2), Limits::infinity(), Limits::quiet_NaN()}) {
      list_.push_back({signalling, bits_of(x), 0});
      list_.push_back({bits_of(x), signalling, 0});
    }
  }

  /// Halfway between two floats and beside it, subnormal and overflowing ones too.
  void add_narrow() {
    for (int i = 0; i < 1500; ++i) {
      const auto bits = static_cast<uint32_t>(random_.next() >> 32);
      const uint32_t near_end = i % 3 == 0    ? bits & 0x80ffffff
                                : i % 30 == 1 ? bits | 0x7f000000
                                              : bits;
      const float x = value(near_end);
      const float y = std::nextafter(x, INFINITY);
      const double middle = (static_cast<double>(x) + static_cast<double>(y)) / 2;
      for (const double d : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)})
        add(static_cast<F>(d), static_cast<F>(x), 0);
      list_.push_back({static_cast<Bits>(near_end), bits_of(F(1)), 0});
    }
  }

  std::vector<ProbeInput<Bits>> list_;
  Random random_;
};

}  // namespace

template <typename Bits>
std::vector<ProbeInput<Bits>> probe_inputs() {
  return Inputs<Bits>().all();
}

namespace {

/// A NaN loses, -0 is smaller than +0.
template <typename F>
F extreme(F a, F b, bool larger) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  const bool before = a == b ? std::signbit(a) && !std::signbit(b) : a < b;
  return before != larger ? a : b;
}

/// In range or 0: what is outside is left to compares.
template <typename Int, typename F>
uint32_t cut(F a) {
  const bool fits = std::is_signed_v<Int> ? a >= F(-2147483648.0) && a < F(2147483648.0)
                                          : a > F(-1) && a < F(4294967296.0);
  return fits ? static_cast<uint32_t>(static_cast<int64_t>(a)) : 0;
}

/// The f32 with the value of an f16; a NaN is some NaN.
uint32_t f32_of_half(uint32_t half) {
  const uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return (half & 0x8000) << 16 | 0x7f800000 | (fraction != 0 ? 0x400000U : 0U);
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(1024 + fraction),
                                                     static_cast<int>(exponent) - 25);
  return std::bit_cast<uint32_t>(sign * magnitude);
}

}  // namespace

template <typename Bits>
std::array<Bits, kProbeOps> probe_expected(const ProbeInput<Bits>& input) {
  using F = FloatOf<Bits>;
  const F a = value(input.a), b = value(input.b), c = value(input.c);
  const auto word = static_cast<uint32_t>(input.a);
  const uint32_t relation = (a < b ? 1U : 0U) | (a <= b ? 2U : 0U) | (a == b ? 4U : 0U) |
                            (a > b ? 8U : 0U) | (a >= b ? 16U : 0U) | (a != b ? 32U : 0U) |
                            (std::isnan(a) ? 64U : 0U);
  Bits narrow = 0, widen = 0, both = 0;
  if constexpr (sizeof(Bits) == 8) {
    narrow = bits_of(static_cast<float>(a));
    widen = bits_of(static_cast<double>(value(word)));
    both = bits_of(static_cast<double>(static_cast<float>(a)));
  } else {
    widen = f32_of_half(word & 0xffff);
    both = f32_of_half(word >> 16);
  }
  return {bits_of(std::fma(a, b, c)),
          bits_of(a / b),
          bits_of(std::sqrt(a)),
          bits_of(a + b),
          bits_of(a * b),
          Bits{relation},
          bits_of(extreme(a, b, false)),
          bits_of(extreme(a, b, true)),
          bits_of(std::trunc(a)),
          bits_of(std::floor(a)),
          bits_of(std::ceil(a)),
          bits_of(std::nearbyint(a)),
          Bits{cut<int32_t>(a)},
          Bits{cut<uint32_t>(a)},
          bits_of(static_cast<F>(static_cast<int32_t>(word))),
          bits_of(static_cast<F>(word)),
          narrow,
          widen,
          both,
          bits_of(std::fma(std::fma(a, b, c), b, c))};
}

std::array<uint32_t, kProbeOps> probe_expected_flushed(ProbeInput<uint32_t> input) {
  const auto flush = [](uint32_t x) { return (x & 0x7f800000) == 0 ? x & 0x80000000 : x; };
  // Products round as if exponents had no end, before they are flushed.
  const auto fused = [&](uint32_t a, uint32_t b, uint32_t c) {
    const float x = value(a), y = value(b), z = value(c);
    const float scaled = std::fma(std::ldexp(x, 32), y, std::ldexp(z, 32));
    const uint32_t r = bits_of(std::fma(x, y, z));
    return std::abs(scaled) < 0x1p-94F ? r & 0x80000000 : r;
  };
  const uint32_t word = input.a;
  const uint32_t a = flush(input.a), b = flush(input.b), c = flush(input.c);
  auto expected = probe_expected(ProbeInput<uint32_t>{a, b, c});
  expected[static_cast<size_t>(ProbeOp::widen)] = f32_of_half(word & 0xffff);
  expected[static_cast<size_t>(ProbeOp::narrow_widen)] = f32_of_half(word >> 16);
  for (const ProbeOp op : {ProbeOp::div, ProbeOp::sqrt, ProbeOp::add, ProbeOp::min, ProbeOp::max})
    expected[static_cast<size_t>(op)] = flush(expected[static_cast<size_t>(op)]);
  const uint32_t sum = fused(a, b, c);
  expected[static_cast<size_t>(ProbeOp::mul)] = fused(a, b, 0x80000000);
  expected[static_cast<size_t>(ProbeOp::fma)] = sum;
  expected[static_cast<size_t>(ProbeOp::fma_fma)] = fused(sum, b, c);
  // The operand of these is an integer.
  expected[static_cast<size_t>(ProbeOp::from_int)] =
      bits_of(static_cast<float>(static_cast<int32_t>(word)));
  expected[static_cast<size_t>(ProbeOp::from_uint)] = bits_of(static_cast<float>(word));
  return expected;
}

template <typename Bits>
bool same_float(Bits x, Bits y) {
  return x == y || (std::isnan(value(x)) && std::isnan(value(y)));
}

template <typename Bits>
bool same_result(ProbeOp op, Bits x, Bits y) {
  switch (op) {
    case ProbeOp::compare:
    case ProbeOp::to_int:
    case ProbeOp::to_uint:
      return x == y;
    case ProbeOp::narrow:
      return same_float(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
    default:
      return same_float(x, y);
  }
}

template bool same_result(ProbeOp, uint32_t, uint32_t);
template bool same_result(ProbeOp, uint64_t, uint64_t);
template std::vector<ProbeInput<uint32_t>> probe_inputs();
template std::vector<ProbeInput<uint64_t>> probe_inputs();
template std::array<uint32_t, kProbeOps> probe_expected(const ProbeInput<uint32_t>&);
template std::array<uint64_t, kProbeOps> probe_expected(const ProbeInput<uint64_t>&);
template bool same_float(uint32_t, uint32_t);
template bool same_float(uint64_t, uint64_t);

}  // namespace lanewise::vulkan
