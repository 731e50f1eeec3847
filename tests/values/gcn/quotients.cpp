// The steps of a division: each against its rules in every mode, and all of them together against
// the host's quotient.
#include <fmt/format.h>

#include <cfloat>
#include <limits>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::quotients {

namespace {

/// A format's numbers: the host's type, its bits, what a mode says of them, and where a quotient
/// needs scaling.
struct F32 {
  using Real = float;
  using Bits = uint32_t;
  static constexpr int kFar = 96, kTiny = 23, kScale = 64, kUnderflow = -150, kMantissa = 23,
                       kBias = 127, kTop = 255;
  static constexpr Bits kNaN = kNaN32;
  static bool keeps_operands(Mode m) { return !m.flush; }
  static bool keeps_results(Mode m) { return !m.flush; }
};
struct F64 {
  using Real = double;
  using Bits = uint64_t;
  static constexpr int kFar = 768, kTiny = 53, kScale = 128, kUnderflow = -1075, kMantissa = 52,
                       kBias = 1023, kTop = 2047;
  static constexpr Bits kNaN = kNaN64;
  static bool keeps_operands(Mode m) { return (m.wide_subnormals & 1) != 0; }
  static bool keeps_results(Mode m) { return (m.wide_subnormals & 2) != 0; }
};

template <typename F>
int exponent(typename F::Real x) {
  return static_cast<int>(raw(x) >> F::kMantissa) & F::kTop;
}
template <typename F>
bool is_subnormal(typename F::Real x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}
template <typename F>
typename F::Real without_subnormals(typename F::Real x, bool keep) {
  return keep || !is_subnormal<F>(x) ? x : std::copysign(typename F::Real{0}, x);
}
/// Operands and results of every step are flushed as the mode says.
template <typename F>
typename F::Real operand_of(Mode mode, typename F::Bits b) {
  typename F::Real x;
  std::memcpy(&x, &b, sizeof x);
  return without_subnormals<F>(x, F::keeps_operands(mode));
}
template <typename F>
typename F::Bits result_of(Mode mode, typename F::Real x) {
  return bits(without_subnormals<F>(x, F::keeps_results(mode)));
}

template <typename F>
struct Scaled {
  typename F::Bits value;
  bool back;
};
/// The tests see quotients rounded in the mode's direction and not flushed; scaling is ldexp.
template <typename F>
Scaled<F> scale(Mode mode, typename F::Bits a, typename F::Bits b, typename F::Bits c) {
  using Real = typename F::Real;
  const Real x = operand_of<F>(mode, a), den = operand_of<F>(mode, b), num = operand_of<F>(mode, c);
  const Rounding direction(mode.direction());
  const volatile Real one = 1, d = den, n = num;
  const volatile Real reciprocal = one / d, quotient = n / d;
  const auto by = [&](int power) {
    const volatile Real r = std::ldexp(x, power);
    return result_of<F>(mode, r);
  };
  const auto same = by(0), up = by(F::kScale), down = by(-F::kScale);
  if (num == 0 || den == 0) return {F::kNaN, false};
  if (exponent<F>(num) - exponent<F>(den) >= F::kFar) return {x == den ? up : same, true};
  if (exponent<F>(den) == 0) return {up, false};
  if (is_subnormal<F>(reciprocal) && is_subnormal<F>(quotient))
    return {x == den ? down : same, true};
  if (is_subnormal<F>(reciprocal)) return {down, false};
  if (is_subnormal<F>(quotient)) return {x == num ? up : same, true};
  if (exponent<F>(num) <= F::kTiny) return {up, false};
  return {same, false};
}

/// x * y + z with more digits than any format here has; where that is not exact its last digit is
/// odd, so that another rounding sees on which side of its halves the sum lies.
long double odd_sum(double x, double y, double z) {
  static_assert(LDBL_MANT_DIG >= 53 + 2);
  const volatile long double a = x, b = y, c = z;
  const auto rounded = [&](int way) {
    const Rounding direction(way);
    const volatile long double sum = std::fma(a, b, c);
    return static_cast<long double>(sum);
  };
  const long double low = rounded(FE_DOWNWARD), high = rounded(FE_UPWARD);
  int unused = 0;
  const long double digits = std::ldexp(std::frexp(low, &unused), LDBL_MANT_DIG);
  return std::fmod(digits, 2.0L) != 0 ? low : high;
}

/// A sum like v_fma's, times a power of two: rounded once, in the mode's direction.
template <typename F>
typename F::Bits fused(Mode mode, typename F::Bits a, typename F::Bits b, typename F::Bits c,
                       bool back) {
  using Real = typename F::Real;
  const volatile Real x = operand_of<F>(mode, a), y = operand_of<F>(mode, b),
                      z = operand_of<F>(mode, c);
  const Rounding direction(mode.direction());
  const volatile Real sum = std::fma(x, y, z);
  if constexpr (sizeof(Real) == 4)
    if (!back)
      return bits(flushed_result([&](float k) { return std::fma(k * x, y, k * z); }, mode.flush));
  if (!back) return result_of<F>(mode, sum);
  const int by = exponent<F>(z) > F::kBias ? F::kScale : -F::kScale;
  // Two roundings in one direction are one, but for those to the nearest.
  const bool simple = mode.rounding != 0 || by > 0 || !std::isfinite(sum) || sum == 0;
  const volatile Real scaled =
      simple ? std::ldexp(Real{sum}, by) : static_cast<Real>(std::ldexp(odd_sum(x, y, z), by));
  return result_of<F>(mode, scaled);
}

/// The quotient with its sign; one too small for the format rounds in the mode's direction.
template <typename F>
typename F::Bits fixup(Mode mode, typename F::Bits a, typename F::Bits b, typename F::Bits c) {
  using Real = typename F::Real;
  const Real q = operand_of<F>(mode, a), den = operand_of<F>(mode, b), num = operand_of<F>(mode, c);
  const Real sign = std::signbit(den) != std::signbit(num) ? Real{-1} : Real{1};
  if (std::isnan(num) || std::isnan(den)) return F::kNaN;
  if (num == 0 && den == 0) return F::kNaN;
  if (std::isinf(num) && std::isinf(den)) return F::kNaN;
  if (den == 0 || std::isinf(num)) return bits(std::copysign(Real{INFINITY}, sign));
  if (std::isinf(den) || num == 0) return bits(std::copysign(Real{0}, sign));
  if (exponent<F>(num) - exponent<F>(den) < F::kUnderflow) {
    const Rounding direction(mode.direction());
    const volatile Real least = std::copysign(std::numeric_limits<Real>::denorm_min(), sign);
    const volatile Real less = least / 4;
    return result_of<F>(mode, less);
  }
  return result_of<F>(mode, std::copysign(std::isnan(q) ? Real{INFINITY} : q, sign));
}

// ---- Inputs

template <typename F>
void append(Words& w, typename F::Bits value) {
  w.push_back(static_cast<uint32_t>(value));
  if constexpr (sizeof(value) == 8) w.push_back(static_cast<uint32_t>(value >> 32));
}
template <typename F>
typename F::Bits number(int exponent, uint64_t mantissa, bool minus) {
  constexpr auto kOne = typename F::Bits{1};
  const auto fraction = static_cast<typename F::Bits>(mantissa) & ((kOne << F::kMantissa) - 1);
  const auto sign = minus ? kOne << (8 * sizeof(kOne) - 1) : 0;
  return static_cast<typename F::Bits>(sign | static_cast<typename F::Bits>(exponent)
                                                  << F::kMantissa) |
         fraction;
}
/// Lanes that run, mostly, with the carry that v_div_fmas takes in either state.
uint32_t some_flags(Random& next) {
  const auto n = static_cast<uint32_t>(next());
  return n % 16 == 0 ? n & 2 : 1 | (n & 6);
}

/// Quotient, denominator, numerator: every two of numbers on both sides of each of the steps'
/// limits.
template <typename F>
Tuples quotients(const Pool& pool) {
  Random next(18);
  std::vector<typename F::Bits> edges;
  for (const int e :
       {0, 1, 2, F::kTiny, F::kTiny + 1, F::kBias, F::kBias + 1, -F::kUnderflow, 1 - F::kUnderflow,
        F::kBias + F::kFar - 1, F::kBias + F::kFar, F::kTop - 3, F::kTop - 2, F::kTop - 1})
    for (const uint64_t m : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, next()})
      edges.push_back(number<F>(e, m, next() % 2 != 0));
  edges.push_back(number<F>(F::kTop, 0, true));
  edges.push_back(number<F>(F::kTop, 1, false));
  Tuples all;
  for (const auto den : edges)
    for (const auto num : edges) {
      Words w;
      append<F>(w, static_cast<typename F::Bits>(pool.values[next() % pool.values.size()]));
      append<F>(w, den);
      append<F>(w, num);
      w.push_back(some_flags(next));
      all.push_back(std::move(w));
    }
  return all;
}

/// Factors and addend. Sums that subnormal numbers come of when they are scaled down: alone, next
/// to something far smaller, and halfway between two numbers or nearly so.
template <typename F>
Tuples sums(const Pool& pool) {
  Tuples all = with_flags({pool, pool, pool}, 1024);
  Random next(81);
  for (unsigned n = 0; n < 1024; ++n) {
    const int e = F::kScale - static_cast<int>(next() % (F::kMantissa + 4));
    uint64_t m = next();
    // What falls off is a half, or nothing.
    if (n % 4 != 0) m = m >> (F::kScale - e + 1) << (F::kScale - e + 1);
    if (n % 4 == 1) m |= uint64_t{1} << (F::kScale - e);
    const int less = static_cast<int>(next() % (2 * F::kMantissa));
    Words w;
    append<F>(w, number<F>(F::kBias, next(), next() % 2 != 0));
    append<F>(w, n % 8 == 0 ? 0 : number<F>(std::max(e - less, 0), next(), false));
    append<F>(w, number<F>(e, m, next() % 2 != 0));
    w.push_back(some_flags(next));
    all.push_back(std::move(w));
  }
  return all;
}

/// Where operand `n` of the format stands among the inputs.
template <typename F>
typename F::Bits operand(const Lane& l, unsigned n) {
  if constexpr (sizeof(typename F::Bits) == 8) return l.pair(2 * n);
  return static_cast<typename F::Bits>(l[n]);
}
template <typename F>
void put(Out out, typename F::Bits value) {
  out[0] = static_cast<uint32_t>(value);
  if constexpr (sizeof(value) == 8) out[1] = static_cast<uint32_t>(value >> 32);
}

/// What compilers make of x / y, in registers behind the inputs.
template <typename F>
Case whole_division(const std::string& type, const std::string& x, const std::string& y,
                    const std::string& to, const Pool& pool) {
  constexpr bool wide_type = sizeof(typename F::Bits) == 8;
  const unsigned words = wide_type ? 2 : 1;
  const auto r = [&](unsigned n) {
    return wide_type ? fmt::format("v[{}:{}]", 70 + 2 * n, 71 + 2 * n) : fmt::format("v{}", 70 + n);
  };
  std::string text = fmt::format(
      "v_div_scale_{0} {1}, vcc, {8}, {8}, {7}\nv_rcp_{0} {2}, {1}\n"
      "v_fma_{0} {3}, -{1}, {2}, 1.0\nv_fma_{0} {2}, {2}, {3}, {2}\n"
      "v_fma_{0} {3}, -{1}, {2}, 1.0\nv_div_scale_{0} {4}, vcc, {7}, {8}, {7}\n"
      "v_fma_{0} {2}, {2}, {3}, {2}\nv_mul_{0} {5}, {4}, {2}\nv_fma_{0} {6}, -{1}, {5}, {4}\n",
      type, r(0), r(1), r(2), r(3), r(4), r(5), x, y);
  if (!wide_type)
    text += fmt::format("v_fma_{0} {1}, {2}, {3}, {1}\nv_fma_{0} {2}, -{4}, {1}, {5}\n", type, r(4),
                        r(5), r(1), r(0), r(3));
  text += fmt::format("v_div_fmas_{0} {1}, {1}, {2}, {3}\nv_div_fixup_{0} {4}, {1}, {5}, {6}", type,
                      r(5), r(1), r(4), to, y, x);
  Step quotient{text, nullptr, words};
  quotient.rule = [](const Lane& l, Out o) {
    const Mode keeps{false};
    const volatile typename F::Real n = operand_of<F>(keeps, operand<F>(l, 0)),
                                    d = operand_of<F>(keeps, operand<F>(l, 1));
    const volatile typename F::Real q = n / d;
    put<F>(o, bits(typename F::Real{q}));
  };
  return vector_case("v_div_fmas_" + type, with_flags({pool, pool}), {quotient});
}

/// Those of f64 are not marked as `doubles`: what devices without them make of these compiles in
/// seconds.
template <typename F>
void steps_of(const std::string& type, Mode mode, const Pool& pool, std::vector<Case>& out) {
  constexpr bool wide_type = sizeof(typename F::Bits) == 8;
  const unsigned words = wide_type ? 2 : 1;
  const auto reg = [&](unsigned n) {
    return wide_type ? fmt::format("v[{}:{}]", 10 + 2 * n, 11 + 2 * n) : fmt::format("v{}", 10 + n);
  };
  const std::string to = wide_type ? "{p}" : "{d}";
  const auto scaling = [&](unsigned which) {
    Step s{fmt::format("v_div_scale_{} {}, vcc, {}, {}, {}\ns_mov_b64 {{m}}, vcc", type, to,
                       reg(which), reg(1), reg(2)),
           nullptr, words, true};
    s.rule = [=](const Lane& l, Out o) {
      const auto r = scale<F>(mode, operand<F>(l, which), operand<F>(l, 1), operand<F>(l, 2));
      put<F>(o, r.value);
      o[words] = r.back ? 1 : 0;
    };
    return s;
  };
  const Tuples divisions = quotients<F>(pool);
  out.push_back(vector_case("v_div_scale_" + type, divisions, {scaling(1), scaling(2)}));
  Step fix{fmt::format("v_div_fixup_{} {}, {}, {}, {}", type, to, reg(0), reg(1), reg(2)), nullptr,
           words};
  fix.rule = [mode](const Lane& l, Out o) {
    put<F>(o, fixup<F>(mode, operand<F>(l, 0), operand<F>(l, 1), operand<F>(l, 2)));
  };
  out.push_back(vector_case("v_div_fixup_" + type, divisions, {fix}));
  std::vector<Step> adds;
  for (const bool some : {false, true}) {
    Step add{fmt::format("s_mov_b64 vcc, {}\nv_div_fmas_{} {}, {}, {}, {}", some ? "s[22:23]" : "0",
                         type, to, reg(0), reg(1), reg(2)),
             nullptr, words};
    add.rule = [mode, some](const Lane& l, Out o) {
      put<F>(o, fused<F>(mode, operand<F>(l, 0), operand<F>(l, 1), operand<F>(l, 2),
                         some && l.flag(1) != 0));
    };
    adds.push_back(add);
  }
  out.push_back(vector_case("v_div_fmas_" + type, sums<F>(pool), adds));
  // All together are for kernels that keep subnormals and round to nearest.
  if (mode.rounding == 0 && F::keeps_operands(mode) && F::keeps_results(mode))
    out.push_back(whole_division<F>(type, reg(0), reg(1), to, pool));
}

}  // namespace

void cases(Mode mode, std::vector<Case>& out) {
  steps_of<F32>("f32", mode, f32(12), out);
  steps_of<F64>("f64", mode, f64(12), out);
}

}  // namespace values::gcn::quotients
