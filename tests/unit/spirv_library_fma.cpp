// Fused multiply-add of exact sums and products, against the host's, where it is hardest: products
// and addends of close exponents, points halfway, cancellation, both ends of the range.
#include <cmath>
#include <random>

#include "tests/support/library_check.hpp"

using namespace lanewise::test;

namespace {

class HardFma {
 public:
  explicit HardFma(uint64_t seed) : rng_(seed) {}

  struct Operands {
    double a, b, c;
  };
  Operands next() {
    Operands o;
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

/// Rows on which the function's result, as `Float`, is not the host's fma.
template <typename Float, typename Arguments>
size_t wrong_rows(const Driver& d, const char* name, const Words& words, Arguments arguments) {
  const Words got = call(*d.compute, d.variants.back(), name, words);
  const size_t in = words.size() / (got.size() / 2);
  size_t wrong = 0;
  for (size_t i = 0; i < got.size() / 2; ++i) {
    const auto [a, b, c] = arguments(&words[i * in]);
    const auto result = static_cast<Float>(std::bit_cast<double>(at64(&got[2 * i])));
    const Float expected = std::fma(a, b, c);
    const bool same = std::isnan(expected)
                          ? std::isnan(result)
                          : expected == result && std::signbit(expected) == std::signbit(result);
    wrong += same ? 0 : 1;
  }
  return wrong;
}

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
  const auto arguments = [](const uint32_t* w) {
    const auto at = [&](int i) { return std::bit_cast<double>(at64(w + 2 * i)); };
    return HardFma::Operands{at(0), at(1), at(2)};
  };
  for (const Driver& d : drivers()) {
    if (!d.compute->facts().float64) continue;
    CAPTURE(d.compute->facts().name);
    CHECK(wrong_rows<double>(d, "lw_ffma_wide_f64", words, arguments) == 0);
  }
}

TEST_CASE("f32 fma by way of doubles") {
  std::mt19937 rng(6);
  Words words;
  for (int i = 0; i < 300000; ++i) {
    uint32_t v[3] = {static_cast<uint32_t>(rng()), static_cast<uint32_t>(rng()),
                     static_cast<uint32_t>(rng())};
    if (i % 2 == 0) v[1] = (v[1] & 0x80ffffff) | ((254 - (v[0] >> 23 & 0xff)) << 23 & 0x7f000000);
    if (i % 3 == 0) {
      const float p = std::bit_cast<float>(v[0]) * std::bit_cast<float>(v[1]);
      v[2] = (std::bit_cast<uint32_t>(p) ^ 0x80000000) + rng() % 5 - 2;
    } else if (i % 3 == 1) {
      v[2] = (v[2] & 0x80ffffff) | 0x3f000000;
    }
    words.insert(words.end(), v, v + 3);
  }
  struct Narrow {
    float a, b, c;
  };
  const auto arguments = [](const uint32_t* w) {
    return Narrow{std::bit_cast<float>(w[0]), std::bit_cast<float>(w[1]),
                  std::bit_cast<float>(w[2])};
  };
  for (const Driver& d : drivers()) {
    if (!d.compute->facts().float64) continue;
    CAPTURE(d.compute->facts().name);
    CHECK(wrong_rows<float>(d, "lw_ffma_to_odd_f64", words, arguments) == 0);
  }
}
