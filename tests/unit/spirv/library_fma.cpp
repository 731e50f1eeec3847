// Fused multiply-add of exact sums and products, against the host's, where it is hardest: products
// and addends of close exponents, points halfway, cancellation, both ends of the range.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/library_check.hpp"

using namespace lanewise::test;

namespace {

template <typename Float>
struct Operands {
  Float a, b, c;
};

class HardFma {
 public:
  explicit HardFma(uint64_t seed) : rng_(seed) {}

  Operands<double> next() {
    Operands<double> o{};
    const int place = pick(-1130, 1060), ea = pick(-1074, 1024);
    const bool anywhere = rng_() % 3 == 0;
    o.a = number(anywhere ? pick(-40, 40) : ea);
    o.b = number(anywhere ? pick(-40, 40) : place - ea);
    const int product = std::ilogb(o.a) + std::ilogb(o.b);
    switch (rng_() % 6) {
      case 0:
        o.c = number(pick(-1074, 1024));
        break;
      case 1:  // cancels, or nearly
        o.c = neighbour(-(o.a * o.b), pick(-2, 2));
        break;
      case 2:
        o.c = rng_() % 2 == 0 ? 0.0 : -0.0;
        break;
      case 3:  // the product decides about a point halfway
        o.c = number(product + pick(52, 55));
        break;
      default:
        o.c = number(product + pick(-110, 110));
        break;
    }
    return o;
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(rng_() % static_cast<uint64_t>(high - low + 1));
  }
  static double neighbour(double x, int steps) {
    if (!std::isfinite(x)) return 1;
    for (; steps > 0; --steps) x = std::nextafter(x, INFINITY);
    for (; steps < 0; ++steps) x = std::nextafter(x, -INFINITY);
    return x;
  }
  /// Few bits, all bits, runs of ones, or any.
  double number(int exponent) {
    uint64_t bits = rng_() & 0xfffffffffffff;
    switch (rng_() % 5) {
      case 0:
        bits &= ~uint64_t{0} << rng_() % 53;
        break;
      case 1:
        bits >>= rng_() % 53;
        break;
      case 2:
        bits = 0xfffffffffffff ^ (rng_() % 2 << rng_() % 52);
        break;
      default:
        break;
    }
    const double one = std::bit_cast<double>(0x3ff0000000000000 | bits);
    return std::ldexp(rng_() % 2 == 0 ? one : -one, exponent);
  }

  std::mt19937_64 rng_;
};

void put(Words& words, double x) {
  for (const uint32_t word : row64(std::bit_cast<uint64_t>(x))) words.push_back(word);
}

template <typename Float>
Float float_at(const uint32_t* w) {
  if constexpr (sizeof(Float) == 8) return std::bit_cast<double>(at64(w));
  return std::bit_cast<float>(*w);
}
/// Rows on which the function's result is not the host's fma.
template <typename Float>
size_t wrong_rows(const Driver& d, const char* name, const Words& words) {
  if (!takes(d, turn_of(name))) return 0;
  constexpr size_t kWords = sizeof(Float) / 4;
  const Words got = call(*d.compute, d.variants.back(), name, words);
  size_t wrong = 0;
  for (size_t i = 0; i < got.size() / kWords; ++i) {
    const auto at = [&](size_t k) { return float_at<Float>(&words[(3 * i + k) * kWords]); };
    const Float result = float_at<Float>(&got[i * kWords]);
    const Float expected = std::fma(at(0), at(1), at(2));
    const bool same = std::isnan(expected)
                          ? std::isnan(result)
                          : expected == result && std::signbit(expected) == std::signbit(result);
    wrong += same ? 0 : 1;
  }
  return wrong;
}

/// f32 operands whose exact sum lies at or beside a point halfway, cancels, or is subnormal.
class HardNarrowFma {
 public:
  explicit HardNarrowFma(uint32_t seed) : rng_(seed) {}

  Operands<float> next() {
    Operands<float> o{any(), any(), any()};
    switch (rng_() % 7) {
      case 0:  // cancels, or nearly
        o.c = neighbour(-(o.a * o.b), static_cast<int>(rng_() % 5) - 2);
        break;
      case 1:  // a product of middling size
        o.a = near(-20, 20);
        o.b = near(-20, 20);
        o.c = near(-60, 60);
        break;
      case 2:  // far below or above the product
        o.a = near(-20, 20);
        o.b = near(-20, 20);
        o.c = std::ldexp(near(0, 0), std::ilogb(o.a * o.b) + pick(-60, 60));
        break;
      case 3: {  // the addend brings the product to a point halfway, as near as it can
        o.a = near(-30, 30);
        const float target = near(-40, 40);
        const double middle = (double{target} + std::nextafterf(target, INFINITY)) / 2;
        o.b = static_cast<float>(middle / o.a);
        if (rng_() % 2 == 0) o.b = near(-40, 40);
        o.c = static_cast<float>(middle - double{o.a} * o.b);
        break;
      }
      case 4:  // subnormal results
        o.a = near(-60, 0);
        o.b = near(-150 - std::ilogb(o.a), -120 - std::ilogb(o.a));
        o.c = near(-150, -120);
        break;
      case 5: {  // half of the addend's last place, but for a little: 1 - 2^-46 or 1 + 2^-22 +
                 // 2^-46
        o.c = rng_() % 2 == 0 ? near(-149, -127) : near(-120, 100);
        const int half = std::max(std::ilogb(o.c) - 23, -149) - 1, split = pick(-20, 20);
        o.a = std::ldexp(0x1.000002p0F, std::max(half / 2, -120) + split);
        o.b = std::ldexp(rng_() % 2 == 0 ? 1 - 0x1p-23F : 0x1.000002p0F, half - std::ilogb(o.a));
        if (rng_() % 2 == 0) o.a = -o.a;
        break;
      }
      default:
        break;
    }
    return o;
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(rng_() % static_cast<uint32_t>(high - low + 1));
  }
  /// All bits, few bits, or runs of ones.
  float any() {
    uint32_t bits = rng_();
    switch (rng_() % 5) {
      case 0:
        bits &= ~uint32_t{0} << rng_() % 24;
        break;
      case 1:
        bits |= 0x7fffff >> rng_() % 23;
        break;
      case 2:
        bits = (bits & 0xff800000) | 1U << rng_() % 23;
        break;
      default:
        break;
    }
    return std::bit_cast<float>(bits);
  }
  float near(int low, int high) {
    const uint32_t bits = std::bit_cast<uint32_t>(any());
    return std::ldexp(std::bit_cast<float>((bits & 0x807fffff) | 0x3f800000), pick(low, high));
  }
  static float neighbour(float x, int steps) {
    if (!std::isfinite(x)) return 1;
    for (; steps > 0; --steps) x = std::nextafterf(x, INFINITY);
    for (; steps < 0; ++steps) x = std::nextafterf(x, -INFINITY);
    return x;
  }

  std::mt19937 rng_;
};

}  // namespace

TEST_CASE("f64 fma of native sums and products") {
  HardFma hard(5);
  Words words;
  for (int i = 0; i < 300000; ++i) {
    const auto [a, b, c] = hard.next();
    for (const double x : {a, b, c}) put(words, x);
  }
  constexpr double kSpecial[] = {0.0,        -0.0,      1.0,     0x1p-1074,
                                 -0x1p-1074, 0x1p-1022, 0x1p600, 0x1p-969,
                                 0x1p-970,   0x1p-537,  0x1p900, 0x1p1023,
                                 INFINITY,   -INFINITY, NAN,     0x1.fffffffffffffp1023};
  for (const double a : kSpecial)
    for (const double b : kSpecial)
      for (const double c : kSpecial)
        for (const double x : {a, b, c}) put(words, x);
  for (const Driver& d : drivers()) {
    if (!d.compute->facts().float64) continue;
    CAPTURE(d.compute->facts().name);
    CHECK(wrong_rows<double>(d, "lw_ffma_wide_f64", words) == 0);
    CHECK(wrong_rows<double>(d, "lw_ffma_wide_straight_f64", words) == 0);
  }
}

TEST_CASE("f64 fma with an addend that is known to be neither large nor small") {
  HardFma hard(7);
  Words words;
  const auto add = [&](double a, double b, double c) {
    for (const double x : {a, b, c}) put(words, x);
  };
  for (int i = 0; i < 300000; ++i) {
    const auto [a, b, c] = hard.next();
    const int exponent = std::clamp(std::isnormal(c) ? std::ilogb(c) : 0, -900, 99);
    add(a, b,
        std::ldexp(std::isnormal(c) ? c : 1.5, exponent - (std::isnormal(c) ? std::ilogb(c) : 0)));
  }
  // 2^54 - 1 is a product: at the end of the range halfway to what would be the next number.
  constexpr double kSpecial[] = {0.0,      -0.0,     1.0,     0x1p-1074,  0x1p-1022,
                                 0x1p1000, INFINITY, NAN,     0x1p27 - 1, 0x1p997 + 0x1p970,
                                 0x1p-969, 0x1p-500, 0x1p900, -0x1p1023,  0x1.fffffffffffffp1023};
  for (const double a : kSpecial)
    for (const double b : kSpecial)
      for (const double c : {1.0, -1.0, 0x1p-900, -0x1p-900, 0x1.8p99}) add(a, b, c);
  for (const Driver& d : drivers()) {
    if (!d.compute->facts().float64) continue;
    CAPTURE(d.compute->facts().name);
    CHECK(wrong_rows<double>(d, "lw_ffma_wide_mild_f64", words) == 0);
    CHECK(wrong_rows<double>(d, "lw_ffma_wide_mild_straight_f64", words) == 0);
  }
}

TEST_CASE("f32 fma by way of doubles") {
  HardNarrowFma hard(6);
  Words words;
  const auto add = [&](const Operands<float>& o) {
    for (const float x : {o.a, o.b, o.c}) words.push_back(std::bit_cast<uint32_t>(x));
  };
  for (int i = 0; i < 400000; ++i) add(hard.next());
  constexpr float kSpecial[] = {
      0.0F,     -0.0F,      1.0F,    -1.5F,    0x1p-149F, -0x1p-149F, 0x1p-126F,       0x1p-75F,
      0x1p-24F, 0x1.8p-25F, 0x1p64F, 0x1p127F, INFINITY,  -INFINITY,  0x1.fffffep127F, NAN};
  for (const float a : kSpecial)
    for (const float b : kSpecial)
      for (const float c : kSpecial) add({a, b, c});
  for (const Driver& d : drivers()) {
    if (!d.compute->facts().float64) continue;
    CAPTURE(d.compute->facts().name);
    CHECK(wrong_rows<float>(d, "lw_ffma_double_f32", words) == 0);
    CHECK(wrong_rows<float>(d, "lw_ffma_double_straight_f32", words) == 0);
  }
}
