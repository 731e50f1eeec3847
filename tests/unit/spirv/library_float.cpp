// Float functions of the shader library on devices, against the host's IEEE arithmetic.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/support/library_check.hpp"

using namespace lanewise::test;

namespace {

constexpr int kHostRound[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
constexpr uint32_t kFtz = 8, kSat = 16;

/// Runs f in a rounding direction; volatile operands keep the compiler from moving or folding it.
template <typename F>
auto rounded(uint32_t flags, F f) {
  std::fesetround(kHostRound[flags & 3]);
  const auto r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}
/// f(1), which is flushed where it were below the normal numbers if exponents had no end: f(k) is k
/// times as large.
template <typename F>
float flushed_result(uint32_t flags, F f) {
  const auto of = [&](float k) {
    return rounded(flags, [&] {
      volatile float r = f(k);
      return float(r);
    });
  };
  const float r = of(1);
  const bool tiny = std::fabs(r) <= 0x1p-126F && std::fabs(of(0x1p64F)) < 0x1p-62F;
  return (flags & kFtz) != 0 && tiny ? std::copysign(0.0F, r) : r;
}
float f32(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
double f64(const uint32_t* w) {
  return std::bit_cast<double>(at64(w));
}

uint32_t flushed(uint32_t x) {
  return (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}
uint32_t input(uint32_t x, uint32_t flags) {
  return (flags & kFtz) != 0 ? flushed(x) : x;
}
uint32_t result(float v, uint32_t flags) {
  uint32_t x = std::isnan(v) ? 0x7fffffff : std::bit_cast<uint32_t>(v);
  if ((flags & kFtz) != 0) x = flushed(x);
  if ((flags & kSat) != 0) x = std::isnan(v) || x >> 31 != 0 ? 0 : std::min(x, 0x3f800000U);
  return x;
}
Row result(double v) {
  return row64(std::isnan(v) ? 0xfff8000000000000 : std::bit_cast<uint64_t>(v));
}

double widen16(uint32_t h) {
  const int ex = h >> 10 & 31, m = h & 1023;
  const double v = ex == 31 ? (m != 0 ? NAN : INFINITY)
                            : std::ldexp(ex != 0 ? m + 1024 : m, std::max(ex, 1) - 25);
  return (h & 0x8000) != 0 ? -v : v;
}
/// Rounds by scaling the last place to 1, in the host's current rounding direction.
uint32_t narrow16(double v) {
  if (std::isnan(v)) return 0x7fff;
  const uint32_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isinf(v)) return sign | 0x7c00;
  if (v == 0) return sign;
  volatile double scaled = std::ldexp(v, 10 - std::max(std::ilogb(v), -14));
  const double r = std::ldexp(std::fabs(std::nearbyint(scaled)), std::max(std::ilogb(v), -14) - 10);
  if (r == 0) return sign;
  if (r > 65504) {
    volatile double huge = std::copysign(1e300, v);
    return sign | (std::isinf(float(huge * 1.0)) ? 0x7c00 : 0x7bff);
  }
  const int e = std::max(std::ilogb(r), -14);
  const auto m = static_cast<uint32_t>(std::ldexp(r, 10 - e));
  return sign | (m < 1024 ? m : m - 1024 + (static_cast<uint32_t>(e + 15) << 10));
}

uint32_t hard32(std::mt19937_64& rng) {
  static constexpr uint32_t kSpecial[] = {
      0,          1,          2,          0x7fffff,   0x800000,   0x800001,   0x3f800000,
      0x3f7fffff, 0x3f800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x40000000,
      0x4b000000, 0x4f000000, 0x33800000, 0x00ffffff, 0x5f000000, 0x7effffff};
  const auto r = static_cast<uint32_t>(rng());
  const uint32_t sign = static_cast<uint32_t>(rng()) & 0x80000000;
  switch (rng() % 6) {
    case 0:
      return sign | kSpecial[r % std::size(kSpecial)];
    case 1:
      return sign | (r & 0x7fffff);  // subnormal
    case 2:
      return sign | (0x3f000000 + (r & 0x1ffffff));  // near one
    case 3:
      return sign | ((r & 0xff) << 23) | (r >> 9 & 7) << 20;  // few significant bits
    case 4:
      return sign | (r & 0xffffff) | (r & 1) << 30;
    default:
      return r;
  }
}
uint64_t hard64(std::mt19937_64& rng) {
  static constexpr uint64_t kSpecial[] = {0,
                                          1,
                                          0xfffffffffffff,
                                          0x10000000000000,
                                          0x3ff0000000000000,
                                          0x3fefffffffffffff,
                                          0x3ff0000000000001,
                                          0x7fefffffffffffff,
                                          0x7ff0000000000000,
                                          0x7ff0000000000001,
                                          0x7ff8000000000000,
                                          0x41dfffffffc00000,
                                          0x43e0000000000000,
                                          0x4330000000000000};
  const uint64_t r = rng(), sign = rng() & 0x8000000000000000;
  switch (rng() % 6) {
    case 0:
      return sign | kSpecial[r % std::size(kSpecial)];
    case 1:
      return sign | (r & 0xfffffffffffff);
    case 2:
      return sign | (0x3fe0000000000000 + (r & 0x3fffffffffffff));
    case 3:
      return sign | (r & 0x7ff) << 52 | (r >> 12 & 7) << 49;
    case 4:
      return sign | (0x3c00000000000000 + (r & 0x7ffffffffffffff));
    default:
      return r;
  }
}
uint32_t hard16(std::mt19937_64& rng) {
  static constexpr uint32_t kSpecial[] = {0,      1,      0x3ff,  0x400,  0x3c00,
                                          0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x3bff};
  const auto r = static_cast<uint32_t>(rng());
  return rng() % 5 == 0 ? kSpecial[r % std::size(kSpecial)] | (r >> 16 & 0x8000) : r & 0xffff;
}

/// Rows of `count` f32 operands, then flags that run through roundings (and ftz, sat for f32).
Words rows32(unsigned count, size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Words w;
  for (size_t i = 0; i < n; ++i) {
    for (unsigned k = 0; k < count; ++k) w.push_back(hard32(rng));
    if (count == 3 && i % 3 == 0) {  // addend close to the product: cancellation
      const float p = f32(w[w.size() - 3]) * f32(w[w.size() - 2]);
      w.back() = (std::bit_cast<uint32_t>(p) ^ 0x80000000) + static_cast<uint32_t>(rng() % 5) - 2;
    }
    w.push_back(static_cast<uint32_t>(i % 4 + (i / 4 % 2) * kFtz + (i / 8 % 3 == 0) * kSat));
  }
  return w;
}
Words rows64(unsigned count, size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Words w;
  for (size_t i = 0; i < n; ++i) {
    uint64_t v[3];
    for (uint64_t& x : v) x = hard64(rng);
    if (i % 3 == 0)
      v[2] = (std::bit_cast<uint64_t>(std::bit_cast<double>(v[0]) * std::bit_cast<double>(v[1])) ^
              (1ULL << 63)) +
             rng() % 5 - 2;
    if (i % 5 == 0) v[1] = v[0] + (rng() % 2 << 63) + rng() % 3;
    for (unsigned k = 0; k < count; ++k) w.insert(w.end(), {uint32_t(v[k]), uint32_t(v[k] >> 32)});
    w.push_back(static_cast<uint32_t>(i % 4));
  }
  return w;
}
Words rows16(unsigned count, size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Words w;
  for (size_t i = 0; i < n; ++i) {
    for (unsigned k = 0; k < count; ++k) w.push_back(hard16(rng));
    w.push_back(static_cast<uint32_t>(i % 4));
  }
  return w;
}

template <typename F>
Case two32(const char* name, F f) {
  return {name, [f](const uint32_t* w) {
            const uint32_t flags = w[2];
            volatile float a = f32(input(w[0], flags)), b = f32(input(w[1], flags));
            return row(result(flushed_result(flags, [&](float k) { return f(k, a, b); }), flags));
          }};
}
template <typename F>
Case two64(const char* name, F f) {
  return {name, [f](const uint32_t* w) {
            volatile double a = f64(w), b = f64(w + 2);
            return result(rounded(w[4], [&] {
              volatile double r = f(a, b);
              return double(r);
            }));
          }};
}
template <typename F>
Case two16(const char* name, F f) {
  return {name, [f](const uint32_t* w) {
            volatile double a = widen16(w[0]), b = widen16(w[1]);
            return row(rounded(w[2], [&] {
              volatile double r = f(a, b);
              return narrow16(r);
            }));
          }};
}

}  // namespace

TEST_CASE("there is a driver to test on") {
  for (const Driver& d : drivers())
    MESSAGE(d.compute->facts().name << ", " << d.variants.size() << " variants");
  CHECK(!drivers().empty());
}

namespace {

/// Operands around the least normal numbers and around those from which sums are not scaled; half
/// of the pairs nearly cancel.
Words small_pairs() {
  std::mt19937 rng(19);
  Words w;
  for (int i = 0; i < 40000; ++i) {
    const uint32_t around[] = {0, 1, 2, 24, 44, 45, 46, 66, 67, 68, 69, 92};
    const auto number = [&] {
      const uint32_t exponent = around[rng() % std::size(around)];
      const auto fraction = static_cast<uint32_t>(rng() >> (9 + rng() % 23));
      const auto sign = static_cast<uint32_t>(rng() & 1) << 31;
      return sign | exponent << 23 | (rng() % 3 == 0 ? 0x7fffff - fraction : fraction);
    };
    const uint32_t a = number();
    const auto near = static_cast<uint32_t>((a ^ 0x80000000) + rng() % 9 - 4);
    w.insert(w.end(), {a, i % 2 == 0 ? number() : near});
  }
  return w;
}

}  // namespace

TEST_CASE("f32 to nearest without branches") {
  const auto without_flags = [](const Words& rows, unsigned count) {
    Words out;
    for (size_t i = 0; i < rows.size(); ++i)
      if (i % (count + 1) != count) out.push_back(rows[i]);
    return out;
  };
  const Words two = without_flags(rows32(2, 40000, 17), 2);
  const Words three = without_flags(rows32(3, 60000, 18), 3);
  const auto add = [](const uint32_t* w) { return row(result(f32(w[0]) + f32(w[1]), 0)); };
  const auto mul = [](const uint32_t* w) { return row(result(f32(w[0]) * f32(w[1]), 0)); };
  const auto fma = [](const uint32_t* w) {
    return row(result(std::fma(f32(w[0]), f32(w[1]), f32(w[2])), 0));
  };
  check({"lw_fadd_rn_f32", add}, two, drivers());
  check({"lw_fadd_scaled_rn_f32", add}, two, drivers());
  check({"lw_fadd_scaled_rn_f32", add}, small_pairs(), drivers());
  check({"lw_fmul_rn_f32", mul}, two, drivers());
  check({"lw_ffma_rn_f32", fma}, three, drivers());
}

TEST_CASE("f32 arithmetic in four directions, with ftz and sat") {
  const Words two = rows32(2, 12000, 11);
  check(two32("lw_fadd_f32", [](float k, float a, float b) { return k * a + k * b; }), two,
        drivers());
  check(two32("lw_fsub_f32", [](float k, float a, float b) { return k * a - k * b; }), two,
        drivers());
  check(two32("lw_fmul_f32", [](float k, float a, float b) { return k * a * b; }), two, drivers());
  check(two32("lw_fdiv_f32", [](float k, float a, float b) { return k * a / b; }), two, drivers());
  const auto fma32 = [](const uint32_t* w) {
    const uint32_t flags = w[3];
    volatile float a = f32(input(w[0], flags)), b = f32(input(w[1], flags)),
                   c = f32(input(w[2], flags));
    return row(result(
        flushed_result(flags, [&](float k) { return std::fma(k * a, float(b), k * c); }), flags));
  };
  check({"lw_ffma_f32", fma32}, rows32(3, 20000, 12), drivers());
  const auto one32 = [](auto f) {
    return [f](const uint32_t* w) {
      volatile float a = f32(input(w[0], w[1]));
      return row(result(rounded(w[1],
                                [&] {
                                  volatile float r = f(a);
                                  return float(r);
                                }),
                        w[1]));
    };
  };
  const Words one = rows32(1, 12000, 13);
  check({"lw_fsqrt_f32", one32([](float a) { return std::sqrt(a); })}, one, drivers());
  check({"lw_frcp_f32", one32([](float a) { return 1.0F / a; })}, one, drivers());
  check({"lw_fround_f32", one32([](float a) { return std::nearbyint(a); })}, one, drivers());
}

TEST_CASE("f64 arithmetic in four directions") {
  const Words two = rows64(2, 8000, 21);
  check(two64("lw_fadd_f64", [](double a, double b) { return a + b; }), two, drivers());
  check(two64("lw_fsub_f64", [](double a, double b) { return a - b; }), two, drivers());
  check(two64("lw_fmul_f64", [](double a, double b) { return a * b; }), two, drivers());
  check(two64("lw_fdiv_f64", [](double a, double b) { return a / b; }), two, drivers());
  check({"lw_ffma_f64",
         [](const uint32_t* w) {
           volatile double a = f64(w), b = f64(w + 2), c = f64(w + 4);
           return result(rounded(w[6], [&] {
             volatile double r = std::fma(double(a), double(b), double(c));
             return double(r);
           }));
         }},
        rows64(3, 12000, 22), drivers());
  const auto one64 = [](auto f) {
    return [f](const uint32_t* w) {
      volatile double a = f64(w);
      return result(rounded(w[2], [&] {
        volatile double r = f(a);
        return double(r);
      }));
    };
  };
  const Words one = rows64(1, 8000, 23);
  check({"lw_fsqrt_f64", one64([](double a) { return std::sqrt(a); })}, one, drivers());
  check({"lw_frcp_f64", one64([](double a) { return 1.0 / a; })}, one, drivers());
  check({"lw_fround_f64", one64([](double a) { return std::nearbyint(a); })}, one, drivers());
}

TEST_CASE("f16 arithmetic in four directions") {
  const Words two = rows16(2, 12000, 31);
  check(two16("lw_fadd_f16", [](double a, double b) { return a + b; }), two, drivers());
  check(two16("lw_fsub_f16", [](double a, double b) { return a - b; }), two, drivers());
  check(two16("lw_fmul_f16", [](double a, double b) { return a * b; }), two, drivers());
  check(two16("lw_fdiv_f16", [](double a, double b) { return a / b; }), two, drivers());
  check({"lw_ffma_f16",
         [](const uint32_t* w) {
           volatile double a = widen16(w[0]), b = widen16(w[1]), c = widen16(w[2]);
           return row(rounded(w[3], [&] {
             volatile double p = a * b;
             volatile double s = p + c;
             return narrow16(s);
           }));
         }},
        rows16(3, 12000, 32), drivers());
  check({"lw_fsqrt_f16",
         [](const uint32_t* w) {
           volatile double a = widen16(w[0]);
           return row(rounded(w[1], [&] {
             volatile double r = std::sqrt(double(a));
             return narrow16(r);
           }));
         }},
        rows16(1, 8000, 33), drivers());
}
