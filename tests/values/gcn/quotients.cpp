// The steps of a division: each against its rules, and all of them together against the host's
// quotient.
#include <fmt/format.h>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn {

namespace {

/// A format's numbers: the host's type, its bits, and where it needs scaling.
struct F32 {
  using Real = float;
  using Bits = uint32_t;
  static constexpr int kFar = 96, kTiny = 23, kScale = 64, kUnderflow = -150, kMantissa = 23,
                       kBias = 127, kTop = 255;
  static constexpr Bits kNaN = kNaN32;
};
struct F64 {
  using Real = double;
  using Bits = uint64_t;
  static constexpr int kFar = 768, kTiny = 53, kScale = 128, kUnderflow = -1075, kMantissa = 52,
                       kBias = 1023, kTop = 2047;
  static constexpr Bits kNaN = kNaN64;
};

template <typename F>
typename F::Real real_of(typename F::Bits b) {
  typename F::Real x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}
template <typename F>
int exponent(typename F::Real x) {
  return static_cast<int>(raw(x) >> F::kMantissa) & F::kTop;
}
template <typename F>
bool is_subnormal(typename F::Real x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}

template <typename F>
struct Scaled {
  typename F::Bits value;
  bool back;
};
template <typename F>
Scaled<F> scale(typename F::Bits a, typename F::Bits b, typename F::Bits c) {
  using Real = typename F::Real;
  const Real x = real_of<F>(a), den = real_of<F>(b), num = real_of<F>(c);
  const volatile Real reciprocal = Real{1} / den, quotient = num / den;
  const auto up = [&] { return bits(std::ldexp(x, F::kScale)); };
  if (num == 0 || den == 0) return {F::kNaN, false};
  if (exponent<F>(num) - exponent<F>(den) >= F::kFar) return {a == b ? up() : a, true};
  if (exponent<F>(den) == 0) return {up(), false};
  const auto down = [&] { return bits(std::ldexp(x, -F::kScale)); };
  if (is_subnormal<F>(reciprocal) && is_subnormal<F>(quotient)) return {a == b ? down() : a, true};
  if (is_subnormal<F>(reciprocal)) return {down(), false};
  if (is_subnormal<F>(quotient)) return {a == c ? up() : a, true};
  if (exponent<F>(num) <= F::kTiny) return {up(), false};
  return {a, false};
}

/// As if the product, the sum and the scaling were one operation.
template <typename F>
typename F::Bits fused(typename F::Bits a, typename F::Bits b, typename F::Bits c, bool back) {
  using Real = typename F::Real;
  const volatile Real x = real_of<F>(a), y = real_of<F>(b), z = real_of<F>(c);
  const volatile Real plain = std::fma(x, y, z);
  if (!back || !std::isfinite(plain)) return bits(Real{plain});
  if (exponent<F>(z) > F::kBias) return bits(std::ldexp(Real{plain}, F::kScale));
  if (sizeof(Real) == 4) {
    // The exact product and sum, rounded to odd in a double, then once to f32.
    const volatile double p = static_cast<double>(x) * y, s = p + z;
    const volatile double t = s - p, error = (p - (s - t)) + (z - t);
    double odd = s;
    if (error != 0 && (raw(odd) & 1) == 0)
      odd = std::nextafter(odd, (error > 0) == (odd > 0) ? 2 * odd : 0);
    return bits(static_cast<Real>(std::ldexp(odd, -F::kScale)));
  }
  return bits(std::ldexp(Real{plain}, -F::kScale));
}

template <typename F>
typename F::Bits fixup(typename F::Bits a, typename F::Bits b, typename F::Bits c) {
  using Real = typename F::Real;
  const Real q = real_of<F>(a), den = real_of<F>(b), num = real_of<F>(c);
  const Real sign = std::signbit(den) != std::signbit(num) ? Real{-1} : Real{1};
  if (std::isnan(num) || std::isnan(den)) return F::kNaN;
  if (num == 0 && den == 0) return F::kNaN;
  if (std::isinf(num) && std::isinf(den)) return F::kNaN;
  if (den == 0 || std::isinf(num)) return bits(std::copysign(Real{INFINITY}, sign));
  if (std::isinf(den) || num == 0) return bits(std::copysign(Real{0}, sign));
  if (exponent<F>(num) - exponent<F>(den) < F::kUnderflow)
    return bits(std::copysign(Real{0}, sign));
  return bits(std::copysign(std::isnan(q) ? Real{INFINITY} : q, sign));
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

template <typename F>
void steps_of(const std::string& type, const Pool& pool, bool wide_type, std::vector<Case>& out) {
  const unsigned words = wide_type ? 2 : 1;
  const auto reg = [&](unsigned n) {
    return wide_type ? fmt::format("v[{}:{}]", 10 + 2 * n, 11 + 2 * n) : fmt::format("v{}", 10 + n);
  };
  const std::string to = wide_type ? "{p}" : "{d}";
  const auto finish = [&](Case c) {
    c.doubles = wide_type;
    out.push_back(std::move(c));
  };
  const auto scaling = [&](unsigned which) {
    Step s{fmt::format("v_div_scale_{} {}, vcc, {}, {}, {}\ns_mov_b64 {{m}}, vcc", type, to,
                       reg(which), reg(1), reg(2)),
           nullptr, words, true};
    s.rule = [=](const Lane& l, Out o) {
      const auto r = scale<F>(operand<F>(l, which), operand<F>(l, 1), operand<F>(l, 2));
      put<F>(o, r.value);
      o[words] = r.back ? 1 : 0;
    };
    return s;
  };
  const Tuples inputs = with_flags({pool, pool, pool});
  finish(vector_case("v_div_scale_" + type, inputs, {scaling(1), scaling(2)}));
  Step fix{fmt::format("v_div_fixup_{} {}, {}, {}, {}", type, to, reg(0), reg(1), reg(2)), nullptr,
           words};
  fix.rule = [](const Lane& l, Out o) {
    put<F>(o, fixup<F>(operand<F>(l, 0), operand<F>(l, 1), operand<F>(l, 2)));
  };
  finish(vector_case("v_div_fixup_" + type, inputs, {fix}));
  Step add{fmt::format("s_mov_b64 vcc, 0\nv_div_fmas_{} {}, {}, {}, {}", type, to, reg(0), reg(1),
                       reg(2)),
           nullptr, words};
  add.rule = [](const Lane& l, Out o) {
    put<F>(o, fused<F>(operand<F>(l, 0), operand<F>(l, 1), operand<F>(l, 2), false));
  };
  std::vector<Step> adds = {add};
  if (!wide_type) {
    Step back = add;
    back.text.replace(0, back.text.find('\n'), "s_mov_b64 vcc, s[22:23]");
    back.rule = [](const Lane& l, Out o) {
      put<F>(o, fused<F>(operand<F>(l, 0), operand<F>(l, 1), operand<F>(l, 2), l.flag(1) != 0));
    };
    adds.push_back(back);
  }
  // What compilers make of n / d: v10 / v11, in registers behind the inputs.
  const auto r = [&](unsigned n) {
    return wide_type ? fmt::format("v[{}:{}]", 70 + 2 * n, 71 + 2 * n) : fmt::format("v{}", 70 + n);
  };
  std::string text = fmt::format(
      "v_div_scale_{0} {1}, vcc, {8}, {8}, {7}\nv_rcp_{0} {2}, {1}\n"
      "v_fma_{0} {3}, -{1}, {2}, 1.0\nv_fma_{0} {2}, {2}, {3}, {2}\n"
      "v_fma_{0} {3}, -{1}, {2}, 1.0\nv_div_scale_{0} {4}, vcc, {7}, {8}, {7}\n"
      "v_fma_{0} {2}, {2}, {3}, {2}\nv_mul_{0} {5}, {4}, {2}\nv_fma_{0} {6}, -{1}, {5}, {4}\n",
      type, r(0), r(1), r(2), r(3), r(4), r(5), reg(0), reg(1));
  if (!wide_type)
    text += fmt::format("v_fma_{0} {1}, {2}, {3}, {1}\nv_fma_{0} {2}, -{4}, {1}, {5}\n", type, r(4),
                        r(5), r(1), r(0), r(3));
  text += fmt::format("v_div_fmas_{0} {1}, {1}, {2}, {3}\nv_div_fixup_{0} {4}, {1}, {5}, {6}", type,
                      r(5), r(1), r(4), to, reg(1), reg(0));
  Step quotient{text, nullptr, words};
  quotient.rule = [](const Lane& l, Out o) {
    const volatile typename F::Real n = real_of<F>(operand<F>(l, 0)),
                                    d = real_of<F>(operand<F>(l, 1));
    const volatile typename F::Real q = n / d;
    put<F>(o, bits(typename F::Real{q}));
  };
  adds.push_back(quotient);
  finish(vector_case("v_div_fmas_" + type, inputs, adds));
}

}  // namespace

void quotient_cases(Mode mode, std::vector<Case>& out) {
  // The steps are meant for kernels that keep subnormals and round to nearest.
  if (mode.flush || mode.rounding != 0) return;
  steps_of<F32>("f32", f32(12), false, out);
  steps_of<F64>("f64", f64(12), true, out);
}

}  // namespace values::gcn
