// Approximate functions: the result lies within the error that the manual documents, special
// operands give what it lists. True values come from long double.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::approximate {

namespace {

const Type kF32{"f32", 'f', 32}, kF64{"f64", 'f', 64};

using Exact = long double (*)(long double);
/// Is `got` near enough to `exact`, a finite number other than 0?
using Near = bool (*)(long double got, long double exact, long double x);

bool relative(long double got, long double exact, long double bound) {
  return std::fabs(got - exact) <= bound * std::fabs(exact);
}
long double f32_unit(long double x) {
  return std::ldexp(1.0L, std::max(std::ilogb(x), -126) - 23);
}
template <int kUlps>
bool within_ulps(long double got, long double exact, long double) {
  return std::fabs(got - exact) <= kUlps * f32_unit(exact);
}

/// Zeros, infinities and NaN must be what `exact` is, bit for bit. With ftz a subnormal result may
/// be a zero of its sign.
bool near_f32(uint32_t got, long double exact, long double x, bool ftz, Near near) {
  const float value = f32_of(got);
  if (std::isnan(exact)) return got == kNaN32;
  if (std::isinf(exact) || exact == 0) return got == raw(static_cast<float>(exact));
  if (std::fabs(exact) > 0x1.ffffffp127L) return std::isinf(value) && (value > 0) == (exact > 0);
  if (ftz && std::fabs(exact) < 0x1p-126L && (got & 0x7fffffff) == 0)
    return std::signbit(value) == std::signbit(exact);
  if (ftz && (got & 0x7f800000) == 0) return std::fabs(exact) < 0x1.00001p-126L;
  if (std::isnan(value)) return false;
  if (std::isinf(value)) return std::fabs(exact) >= 0x1.fffffep127L;
  return near(value, exact, x);
}

std::optional<Op> function(Mods& m, Exact exact, Near near, const char* bound) {
  if (!m.take("approx")) return {};
  const bool ftz = m.take("ftz");
  const auto t = m.type();
  if (!t || t->name != "f32") return {};
  Op op{{}, {{kF32}}, {{kF32}}, {}};
  op.bound = bound;
  op.near = [=](Args in, Args got) {
    const auto x = static_cast<long double>(flushed(f32_of(static_cast<uint32_t>(in[0])), ftz));
    return near_f32(static_cast<uint32_t>(got[0]), exact(x), x, ftz, near);
  };
  return op;
}

/// Only the upper words of operand and result count; a subnormal one is a zero.
std::optional<Op> coarse(Mods& m, Exact exact) {
  if (!m.take("approx") || !m.take("ftz")) return {};
  const auto t = m.type();
  if (!t || t->name != "f64") return {};
  Op op{{}, {{kF64}}, {{kF64}}, {}};
  op.bound = "2^-20 relative, lower word 0";
  op.near = [exact](Args in, Args got) {
    uint64_t upper = in[0] & ~mask(32);
    if ((upper & 0x7ff0000000000000) == 0) upper &= uint64_t{1} << 63;
    const long double r = exact(f64_of(upper));
    const double value = f64_of(got[0]);
    if (std::isnan(r)) return std::isnan(value);
    if ((got[0] & mask(32)) != 0) return false;
    if (std::isinf(r) || r == 0) return got[0] == raw(static_cast<double>(r));
    if (std::fabs(r) < 0x1p-1022L)
      return (got[0] << 1) == 0 && std::signbit(value) == std::signbit(r);
    return relative(value, r, 0x1p-20L);
  };
  return op;
}

long double inverse(long double x) {
  return 1 / x;
}
/// rsqrt of a negative zero is a negative infinity.
long double inverse_root(long double x) {
  return 1 / std::sqrt(x);
}

std::optional<Op> rcp(const std::string& form, Mods& m) {
  if (form.ends_with("f64")) return coarse(m, inverse);
  return function(m, inverse, within_ulps<1>, "1 ulp");
}
std::optional<Op> sqrt(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::sqrt(x); },
      [](long double got, long double exact, long double) {
        return relative(got, exact, 0x1p-23L);
      },
      "2^-23 relative");
}
std::optional<Op> rsqrt(const std::string& form, Mods& m) {
  if (form.ends_with("ftz.f64")) return coarse(m, inverse_root);
  if (!form.ends_with("f64"))
    return function(
        m, inverse_root,
        [](long double got, long double exact, long double) {
          return relative(got, exact, 0x1.125p-23L);  // 2^-22.9
        },
        "2^-22.9 relative");
  if (!m.take("approx") || !m.type()) return {};
  Op op{{}, {{kF64}}, {{kF64}}, {}};
  op.bound = "2 ulp";
  op.near = [](Args in, Args got) {
    const long double exact = inverse_root(f64_of(in[0]));
    const double value = f64_of(got[0]);
    if (std::isnan(exact)) return got[0] == kNaN64;
    if (std::isinf(exact) || exact == 0) return got[0] == raw(static_cast<double>(exact));
    return std::fabs(value - exact) <= 2 * std::ldexp(1.0L, std::ilogb(exact) - 52);
  };
  return op;
}

/// The bound counts from -pi to pi; farther away the result is still a number from -1 to 1.
bool near_wave(long double got, long double exact, long double x) {
  constexpr long double kPi = 3.14159265358979323846L, kBound = 0x1.125p-21L;  // 2^-20.9
  return std::fabs(x) <= kPi ? std::fabs(got - exact) <= kBound : std::fabs(got) <= 1;
}
/// An exact zero (of sin 0) is demanded to the bit, of huge angles nothing is known.
std::optional<Op> sin(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::sin(x); }, near_wave, "2^-20.9 absolute from -pi to pi");
}
std::optional<Op> cos(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::cos(x); }, near_wave, "2^-20.9 absolute from -pi to pi");
}
std::optional<Op> lg2(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::log2(x); },
      [](long double got, long double exact, long double x) {
        return x >= 0.5L && x <= 2 ? std::fabs(got - exact) <= 0x1p-22L
                                   : relative(got, exact, 0x1p-22L);
      },
      "2^-22 absolute from 0.5 to 2, relative elsewhere");
}
std::optional<Op> ex2(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::exp2(x); }, within_ulps<2>, "2 ulp");
}
std::optional<Op> tanh(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::tanh(x); },
      [](long double got, long double exact, long double) {
        return relative(got, exact, 0x1p-11L);
      },
      "2^-11 relative");
}

std::optional<Op> div(const std::string&, Mods& m) {
  if (!m.take("approx")) return {};
  const bool ftz = m.take("ftz");
  const auto t = m.type();
  if (!t || t->name != "f32") return {};
  Op op{{}, {{kF32}, {kF32}}, {{kF32}}, {}};
  op.bound = "2 ulp for divisors from 2^-126 to 2^126, 0 or NaN above";
  op.near = [ftz](Args in, Args got) {
    const auto value = [&](unsigned i) {
      return static_cast<long double>(flushed(f32_of(static_cast<uint32_t>(in[i])), ftz));
    };
    const long double a = value(0);
    long double b = value(1);
    if (std::isfinite(b) && std::fabs(b) > 0x1p126L) b = std::copysign(INFINITY, b);
    return near_f32(static_cast<uint32_t>(got[0]), a / b, a, ftz, within_ulps<2>);
  };
  return op;
}

// --- halves --------------------------------------------------------------------------------------

std::optional<Op> half_function(Mods& m, Exact exact, bool (*near)(long double, long double),
                                const char* bound) {
  if (!m.take("approx")) return {};
  const auto t = m.type();
  if (!t || !t->name.starts_with("f16")) return {};
  Op op{{}, {{*t}}, {{*t}}, {}};
  op.bound = bound;
  op.near = [=, count = t->bits / 16](Args in, Args got) {
    for (unsigned i = 0; i < count; ++i) {
      const auto h = static_cast<uint32_t>(in[0] >> (16 * i) & 0xffff);
      const auto r = static_cast<uint32_t>(got[0] >> (16 * i) & 0xffff);
      const long double e = exact(f16_to_double(h)), g = f16_to_double(r);
      const bool special = std::isnan(e) || std::isinf(e) || e == 0 || e >= 65520;
      const bool fine = special ? r == f16_bits(static_cast<double>(e)) : near(g, e);
      if (!fine) return false;
    }
    return true;
  };
  return op;
}

std::optional<Op> half_ex2(const std::string&, Mods& m) {
  return half_function(
      m, [](long double x) { return std::exp2(x); },
      [](long double got, long double exact) {  // below the normal numbers one unit of rounding
        return relative(got, exact, 0x1.12p-10L) || std::fabs(got - exact) <= 0x1p-25L;
      },
      "2^-9.9 relative");
}
std::optional<Op> half_tanh(const std::string&, Mods& m) {
  return half_function(
      m, [](long double x) { return std::tanh(x); },
      [](long double got, long double exact) {
        return std::fabs(got - exact) <= 0x1.025p-11L;  // 2^-10.987
      },
      "2^-10.987 absolute");
}

std::optional<Op> ex2_any(const std::string& form, Mods& m) {
  return form.ends_with("f32") ? ex2(form, m) : half_ex2(form, m);
}
std::optional<Op> tanh_any(const std::string& form, Mods& m) {
  return form.ends_with("f32") ? tanh(form, m) : half_tanh(form, m);
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"rcp", rcp},     {"sqrt", sqrt}, {"rsqrt", rsqrt},
                                {"sin", sin},     {"cos", cos},   {"lg2", lg2},
                                {"ex2", ex2_any}, {"div", div},   {"tanh", tanh_any}};
  return makers;
}

}  // namespace values::ptx::approximate
