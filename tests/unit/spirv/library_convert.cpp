// Conversions, compares, minima and the approximate functions of the shader library on devices.
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/library_check.hpp"

using namespace lanewise::test;

namespace {

constexpr int kHostRound[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

float f32(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
double f64(const uint32_t* w) {
  return std::bit_cast<double>(at64(w));
}
template <typename F>
auto rounded(uint32_t flags, F f) {
  std::fesetround(kHostRound[flags & 3]);
  const auto r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}
uint32_t bits_of(float v) {
  return std::isnan(v) ? 0x7fffffff : std::bit_cast<uint32_t>(v);
}

/// Operand words of every magnitude and both signs, then rounding flags.
Words operands(unsigned words, size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Words w;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t sign = rng() & 0x8000000000000000;
    uint64_t v = rng() >> (i % 3 == 0 ? rng() % 64 : 0);
    if (words == 1) {
      uint32_t x = static_cast<uint32_t>(v);
      if (i % 3 == 1) x = static_cast<uint32_t>(sign >> 32) | (0x3e000000 + (x & 0x1fffffff));
      if (i % 11 == 0) x = (i % 2 == 0 ? 0x7f800000U : 0xff800001U);
      w.push_back(x);
    } else {
      if (i % 3 == 1) v = sign | (0x3fd0000000000000 + (v & 0x07ffffffffffffff));
      if (i % 11 == 0) v = i % 2 == 0 ? 0x7ff0000000000000U : 0xfff0000000000001U;
      w.insert(w.end(), {uint32_t(v), uint32_t(v >> 32)});
    }
    w.push_back(static_cast<uint32_t>(i % 4));
  }
  return w;
}

template <typename T>
Row as_row(T v) {
  if constexpr (sizeof(T) == 8) return row64(static_cast<uint64_t>(v));
  return row(static_cast<uint32_t>(static_cast<std::make_unsigned_t<T>>(v)));
}
/// Clamped conversion of an integral-valued double.
template <typename T>
Row clamped(double v, bool from_f64) {
  if (std::isnan(v)) {
    if (!from_f64 && sizeof(T) < 8) return row(0U);
    return as_row(static_cast<T>(std::make_unsigned_t<T>{1} << (8 * sizeof(T) - 1)));
  }
  if (v < static_cast<double>(std::numeric_limits<T>::min()))
    return as_row(std::numeric_limits<T>::min());
  if (v >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return as_row(std::numeric_limits<T>::max());
  return as_row(static_cast<T>(v));
}
template <typename T>
void check_to_integer(const std::string& type, const Words& from32, const Words& from64) {
  const std::string a = "lw_f2i_" + type + "_f32", b = "lw_f2i_" + type + "_f64";
  check({a.c_str(),
         [](const uint32_t* w) {
           volatile double v = double(f32(w[0]));
           return clamped<T>(rounded(w[1], [&] { return std::nearbyint(double(v)); }), false);
         }},
        from32, drivers());
  check({b.c_str(),
         [](const uint32_t* w) {
           volatile double v = f64(w);
           return clamped<T>(rounded(w[2], [&] { return std::nearbyint(double(v)); }), true);
         }},
        from64, drivers());
}

/// |got - want| on a device for each input, as doubles; f(bits) is the exact value.
template <typename F, typename G>
void check_close(const char* name, const Words& args, F exact, G bound) {
  CAPTURE(name);
  for (const Driver& d : drivers()) {
    if (!takes(d, turn_of(name))) continue;
    CAPTURE(d.compute->facts().name);
    const Words got = call(*d.compute, d.variants.back(), name, args);
    double worst = 0;
    uint32_t where = 0;
    for (size_t i = 0; i < args.size(); i += 2) {
      const double want = exact(double(f32(args[i]))), g = double(f32(got[i / 2]));
      if (std::isnan(want) || std::isinf(want)) {
        if (!(std::isnan(want) ? std::isnan(g) : g == want)) worst = INFINITY, where = args[i];
        continue;
      }
      const double error = std::fabs(g - want) / bound(want);
      if (!(error <= worst)) worst = error, where = args[i];
    }
    CAPTURE(worst);
    CAPTURE(where);
    CHECK(worst <= 1);
  }
}
Words reals(double low, double high, size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> in(low, high);
  Words w;
  for (size_t i = 0; i < n; ++i) w.insert(w.end(), {std::bit_cast<uint32_t>(float(in(rng))), 0U});
  return w;
}

}  // namespace

TEST_CASE("floats to integers") {
  const Words from32 = operands(1, 6000, 41), from64 = operands(2, 6000, 42);
  check_to_integer<uint8_t>("u8", from32, from64);
  check_to_integer<int8_t>("s8", from32, from64);
  check_to_integer<uint16_t>("u16", from32, from64);
  check_to_integer<int16_t>("s16", from32, from64);
  check_to_integer<uint32_t>("u32", from32, from64);
  check_to_integer<int32_t>("s32", from32, from64);
  check_to_integer<uint64_t>("u64", from32, from64);
  check_to_integer<int64_t>("s64", from32, from64);
}

TEST_CASE("integers to floats") {
  const Words i32 = operands(1, 6000, 43), i64 = operands(2, 6000, 44);
  const auto in = [](uint32_t flags, auto value, auto convert) {
    volatile auto v = value;
    return rounded(flags, [&] {
      volatile auto r = convert(static_cast<decltype(value)>(v));
      return static_cast<decltype(convert(value))>(r);
    });
  };
  const auto single = [](auto v) { return static_cast<float>(v); };
  const auto wide = [](auto v) { return static_cast<double>(v); };
  check({"lw_i2f_f32_u32", [&](const uint32_t* w) { return row(bits_of(in(w[1], w[0], single))); }},
        i32, drivers());
  check({"lw_i2f_f32_s32",
         [&](const uint32_t* w) { return row(bits_of(in(w[1], int32_t(w[0]), single))); }},
        i32, drivers());
  check({"lw_i2f_f32_s64",
         [&](const uint32_t* w) { return row(bits_of(in(w[2], int64_t(at64(w)), single))); }},
        i64, drivers());
  check({"lw_i2f_f64_s64",
         [&](const uint32_t* w) {
           return row64(std::bit_cast<uint64_t>(in(w[2], int64_t(at64(w)), wide)));
         }},
        i64, drivers());
  check({"lw_i2f_f64_u32",
         [&](const uint32_t* w) { return row64(std::bit_cast<uint64_t>(in(w[1], w[0], wide))); }},
        i32, drivers());
  // The host's own u64 conversion is only sure in the nearest mode; halving odd-rounds exactly.
  const auto from_u64 = [&](const uint32_t* w) {
    const uint64_t v = at64(w);
    if (v >> 63 == 0) return in(w[2], int64_t(v), single);
    return 2 * in(w[2], int64_t(v >> 1 | (v & 1)), single);
  };
  check({"lw_i2f_f32_u64", [&](const uint32_t* w) { return row(bits_of(from_u64(w))); }}, i64,
        drivers());
}

TEST_CASE("floats to floats") {
  const Words w32 = operands(1, 6000, 45);
  Words w64 = operands(2, 6000, 46);
  check({"lw_f2f_f32_f64",
         [](const uint32_t* w) {
           volatile double v = f64(w);
           return row(bits_of(rounded(w[2], [&] {
             volatile float r = float(double(v));
             return float(r);
           })));
         }},
        w64, drivers());
  check({"lw_f2f_f64_f32",
         [](const uint32_t* w) {
           const float v = f32(w[0]);
           return row64(std::isnan(v) ? 0xfff8000000000000 : std::bit_cast<uint64_t>(double(v)));
         }},
        w32, drivers());
  Words halves;
  for (uint32_t h = 0; h < 65536; ++h) halves.insert(halves.end(), {h, h & 3});
  const auto widened = [](const uint32_t* w) {
    const int ex = w[0] >> 10 & 31;
    const float m = float(w[0] & 1023);
    float v = ex == 31 ? (m != 0 ? NAN : INFINITY)
                       : std::ldexp(ex != 0 ? m + 1024 : m, std::max(ex, 1) - 25);
    if ((w[0] & 0x8000) != 0) v = -v;
    return row(bits_of(v));
  };
  check({"lw_f2f_f32_f16", widened}, halves, drivers());
  // There and back is the identity, and what lies between two halves goes to the right one.
  check({"lw_f2f_f16_f32",
         [](const uint32_t* w) {
           const float v = f32(w[0]);
           const uint32_t sign = w[0] >> 16 & 0x8000;
           if (std::isnan(v)) return row(0x7fffU);
           if (std::isinf(v)) return row(sign | 0x7c00U);
           const double magnitude = std::fabs(double(v));
           const bool away = (w[1] & 3) == 2 ? sign != 0 : (w[1] & 3) == 3 && sign == 0;
           // The last place is 2^-24 for subnormals; count places and decide by the exact rest.
           const int e = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14);
           const double places = std::ldexp(magnitude, 10 - e);
           double whole = std::floor(places);
           const double rest = places - whole;
           if ((w[1] & 3) == 0 ? rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)
                               : away && rest > 0)
             whole += 1;
           const double rounded_value = std::ldexp(whole, e - 10);
           if (rounded_value >= 65536)
             return row(sign | ((w[1] & 3) == 0 || away ? 0x7c00U : 0x7bffU));
           return row(sign | uint32_t(whole >= 1024 ? (e + 14) * 1024 + whole : whole));
         }},
        w32, drivers());
}

TEST_CASE("compares and minima") {
  std::mt19937_64 rng(47);
  Words compares, pairs;
  static constexpr uint32_t kValues[] = {0,          0x80000000, 1,          0x80000001,
                                         0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                         0x7fc00000, 0xffffffff, 0x40000000};
  for (const uint32_t a : kValues)
    for (const uint32_t b : kValues)
      for (uint32_t cond = 0; cond < 14; ++cond) {
        compares.insert(compares.end(), {a, b, cond, 0});
        pairs.insert(pairs.end(), {a, b, cond % 2 * 32});
      }
  check({"lw_fcmp_f32",
         [](const uint32_t* w) {
           const float a = f32(w[0]), b = f32(w[1]);
           const bool nan = std::isnan(a) || std::isnan(b);
           const bool table[] = {a == b,        !nan && a != b, a<b, a <= b, a> b,
                                 a >= b,        nan || a == b,  nan || a != b,
                                 nan || a < b,  nan || a <= b,  nan || a > b,
                                 nan || a >= b, !nan,           nan};
           return row(table[w[2]]);
         }},
        compares, drivers());
  const auto extreme = [](bool maximum) {
    return [maximum](const uint32_t* w) {
      const float a = f32(w[0]), b = f32(w[1]);
      const bool na = std::isnan(a), nb = std::isnan(b);
      if ((na && nb) || ((na || nb) && w[2] != 0)) return row(0x7fffffffU);
      if (na || nb) return row(na ? w[1] : w[0]);
      const bool a_less = a < b || (a == b && std::signbit(a));
      return row(a_less != maximum ? w[0] : w[1]);
    };
  };
  check({"lw_fmin_f32", extreme(false)}, pairs, drivers());
  check({"lw_fmax_f32", extreme(true)}, pairs, drivers());
}

TEST_CASE("approximate functions stay inside the bounds of the PTX manual") {
  const auto relative = [](double bits) {
    return [bits](double v) { return std::max(std::fabs(v) * std::exp2(-bits), 1.5e-45); };
  };
  const auto absolute = [](double bits) { return [bits](double) { return std::exp2(-bits); }; };
  check_close(
      "lw_fex2_approx_f32", reals(-150, 128, 20000, 51),
      [](double x) { return double(float(std::exp2(x))); }, relative(22));
  check_close(
      "lw_flg2_approx_f32", reals(0.5, 2, 20000, 52), [](double x) { return std::log2(x); },
      absolute(22));
  check_close(
      "lw_flg2_approx_f32", reals(0, 1e6, 20000, 53), [](double x) { return std::log2(x); },
      [](double v) { return std::max(std::fabs(v) * std::exp2(-22), std::exp2(-22)); });
  check_close(
      "lw_fsin_approx_f32", reals(-3.2, 3.2, 20000, 54), [](double x) { return std::sin(x); },
      absolute(20.5));
  check_close(
      "lw_fcos_approx_f32", reals(-3.2, 3.2, 20000, 55), [](double x) { return std::cos(x); },
      absolute(20.5));
  check_close(
      "lw_fsin_approx_f32", reals(-1e9, 1e9, 20000, 56), [](double x) { return std::sin(x); },
      absolute(20.5));
  check_close(
      "lw_fcos_approx_f32", reals(-3e38, 3e38, 20000, 57), [](double x) { return std::cos(x); },
      absolute(20.5));
  check_close(
      "lw_ftanh_approx_f32", reals(-12, 12, 20000, 58), [](double x) { return std::tanh(x); },
      relative(11));
  check_close(
      "lw_ftanh_approx_f32", reals(-0.6, 0.6, 20000, 59), [](double x) { return std::tanh(x); },
      relative(11));
  check_close(
      "lw_frsqrt_approx_f32", reals(0, 1e6, 20000, 60), [](double x) { return 1 / std::sqrt(x); },
      relative(22.9));
  Words special;
  for (const uint32_t x :
       {0x7f800000U, 0xff800000U, 0x7fc00001U, 0U, 0x80000000U, 0x43000000U, 0xc3200000U})
    special.insert(special.end(), {x, 0U});
  check_close(
      "lw_fex2_approx_f32", special, [](double x) { return double(float(std::exp2(x))); },
      relative(22));
  check_close(
      "lw_flg2_approx_f32", special, [](double x) { return std::log2(x); }, relative(22));
  check_close(
      "lw_fsin_approx_f32", special, [](double x) { return std::sin(x); }, absolute(20.5));
  check_close(
      "lw_fcos_approx_f32", special, [](double x) { return std::cos(x); }, absolute(20.5));
  check_close(
      "lw_ftanh_approx_f32", special, [](double x) { return std::tanh(x); }, relative(11));
  check_close(
      "lw_frsqrt_approx_f32", special, [](double x) { return 1 / std::sqrt(x); }, relative(22.9));
}
