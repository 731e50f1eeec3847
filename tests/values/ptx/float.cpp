// f32 and f64 arithmetic that is exact: the host's own, in the direction that the form names. NaN,
// .ftz, .sat and the zeros of min and max follow docs/numerics.md.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::floats {

namespace {

const Type kPred{"pred", 'p', 1};

struct Style {
  int round = FE_TONEAREST;
  bool named = false, ftz = false, sat = false;
  static Style of(Mods& m) {
    const std::string name = m.one_of({"rn", "rz", "rm", "rp"});
    return {direction(name), !name.empty(), m.take("ftz"), m.take("sat")};
  }
};

/// The result, or one k times as large. Kept away from the optimizer: the direction is set while it
/// runs.
template <typename T>
using Rule = T (*)(volatile T* x, T k);

template <typename T>
uint64_t computed(Rule<T> rule, const Style& s, Args in, unsigned n) {
  volatile T x[3] = {};
  for (unsigned i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 4)
      x[i] = flushed(f32_of(static_cast<uint32_t>(in[i])), s.ftz);
    else
      x[i] = f64_of(in[i]);
  }
  const Rounding direction(s.round);
  T r;
  if constexpr (sizeof(T) == 4) {
    r = flushed_result([&](float k) { return rule(x, k); }, s.ftz);
  } else {
    const volatile T rounded = rule(x, 1);
    r = rounded;
  }
  return bits(s.sat ? saturated(r) : r);
}

std::optional<Op> arithmetic(Mods& m, unsigned n, Rule<float> f, Rule<double> d) {
  if (m.take("approx")) return {};
  m.take("full");  // correctly rounded here
  const Style s = Style::of(m);
  const auto t = m.type();
  if (!t || (t->name != "f32" && t->name != "f64")) return {};
  if (t->bits == 64 && (s.ftz || s.sat)) return {};
  return Op{{},
            std::vector<Operand>(n, {*t}),
            {{*t}},
            [=, is_double = t->bits == 64](Args in, Results out) {
              out[0] = is_double ? computed(d, s, in, n) : computed(f, s, in, n);
            }};
}

template <typename T>
T sum(volatile T* x, T k) {
  return k * x[0] + k * x[1];
}
template <typename T>
T difference(volatile T* x, T k) {
  return k * x[0] - k * x[1];
}
template <typename T>
T product(volatile T* x, T k) {
  return k * x[0] * x[1];
}
template <typename T>
T quotient(volatile T* x, T k) {
  return k * x[0] / x[1];
}
template <typename T>
T fused(volatile T* x, T k) {
  return std::fma(k * x[0], x[1], k * x[2]);
}
template <typename T>
T reciprocal(volatile T* x, T k) {
  return k / x[0];
}
template <typename T>
T root(volatile T* x, T k) {
  return k * std::sqrt(x[0]);
}

std::optional<Op> add(const std::string&, Mods& m) {
  return arithmetic(m, 2, sum<float>, sum<double>);
}
std::optional<Op> sub(const std::string&, Mods& m) {
  return arithmetic(m, 2, difference<float>, difference<double>);
}
std::optional<Op> mul(const std::string&, Mods& m) {
  return arithmetic(m, 2, product<float>, product<double>);
}
std::optional<Op> div(const std::string&, Mods& m) {
  return arithmetic(m, 2, quotient<float>, quotient<double>);
}
std::optional<Op> fma(const std::string&, Mods& m) {
  return arithmetic(m, 3, fused<float>, fused<double>);
}
std::optional<Op> rcp(const std::string&, Mods& m) {
  return arithmetic(m, 1, reciprocal<float>, reciprocal<double>);
}
std::optional<Op> sqrt(const std::string&, Mods& m) {
  return arithmetic(m, 1, root<float>, root<double>);
}

/// The lesser or greater; of two zeros the negative one is less, of a NaN and a number the number.
template <typename T>
T chosen(T a, T b, bool greater, bool nan) {
  if (std::isnan(a) || std::isnan(b))
    return nan || std::isnan(a) == std::isnan(b) ? T(NAN) : std::isnan(a) ? b : a;
  const bool a_less = a < b || (a == b && std::signbit(a));
  return a_less == greater ? b : a;
}

std::optional<Op> min_max(Mods& m, bool greater) {
  const bool ftz = m.take("ftz"), nan = m.take("NaN");
  const auto t = m.type();
  if (!t || (t->name != "f32" && t->name != "f64")) return {};
  return Op{{}, {{*t}, {*t}}, {{*t}}, [=, is_double = t->bits == 64](Args in, Results out) {
              if (is_double) {
                out[0] = bits(chosen(f64_of(in[0]), f64_of(in[1]), greater, nan));
                return;
              }
              const auto value = [&](unsigned i) {
                return flushed(f32_of(static_cast<uint32_t>(in[i])), ftz);
              };
              out[0] = bits(chosen(value(0), value(1), greater, nan));
            }};
}
std::optional<Op> min(const std::string&, Mods& m) {
  return min_max(m, false);
}
std::optional<Op> max(const std::string&, Mods& m) {
  return min_max(m, true);
}

/// Only the sign changes, also of a NaN.
std::optional<Op> sign_only(Mods& m, uint64_t (*rule)(uint64_t value, uint64_t sign)) {
  const bool ftz = m.take("ftz");
  const auto t = m.type();
  if (!t || (t->name != "f32" && t->name != "f64")) return {};
  return Op{{}, {{*t}}, {{*t}}, [=, width = t->bits](Args in, Results out) {
              const uint64_t sign = uint64_t{1} << (width - 1);
              const bool small = ftz && (in[0] & 0x7f800000) == 0;
              out[0] = rule(small ? in[0] & sign : in[0], sign);
            }};
}
std::optional<Op> neg(const std::string&, Mods& m) {
  return sign_only(m, [](uint64_t v, uint64_t sign) { return v ^ sign; });
}
std::optional<Op> abs(const std::string&, Mods& m) {
  return sign_only(m, [](uint64_t v, uint64_t sign) { return v & ~sign; });
}

/// The sign of the first, everything else of the second.
std::optional<Op> copysign(const std::string&, Mods& m) {
  const auto t = m.type();
  if (!t) return {};
  return Op{{}, {{*t}, {*t}}, {{*t}}, [width = t->bits](Args in, Results out) {
              const uint64_t sign = uint64_t{1} << (width - 1);
              out[0] = (in[0] & sign) | (in[1] & (sign - 1));
            }};
}

std::optional<Op> testp(const std::string&, Mods& m) {
  const std::string what =
      m.one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const auto t = m.type();
  if (!t || what.empty()) return {};
  return Op{{}, {{*t}}, {{kPred}}, [what, is_double = t->bits == 64](Args in, Results out) {
              const int c = is_double ? std::fpclassify(f64_of(in[0]))
                                      : std::fpclassify(f32_of(static_cast<uint32_t>(in[0])));
              out[0] = what == "finite"      ? c != FP_INFINITE && c != FP_NAN
                       : what == "infinite"  ? c == FP_INFINITE
                       : what == "number"    ? c != FP_NAN
                       : what == "normal"    ? c == FP_NORMAL || c == FP_ZERO
                       : what == "subnormal" ? c == FP_SUBNORMAL
                                             : c == FP_NAN;
            }};
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {
      {"add", add}, {"sub", sub}, {"mul", mul},           {"div", div},    {"fma", fma},
      {"mad", fma}, {"rcp", rcp}, {"sqrt", sqrt},         {"min", min},    {"max", max},
      {"neg", neg}, {"abs", abs}, {"copysign", copysign}, {"testp", testp}};
  return makers;
}

}  // namespace values::ptx::floats
