// bf16, and what narrow types have besides: .relu, .xorsign.abs, pairs of 16-bit integers. Products
// of bf16 are exact in double; a sum that is not is moved towards what was left out before the one
// rounding to 8 bits.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::bfloat {

namespace {

double b(uint32_t h) {
  return static_cast<double>(f32_of(h << 16));
}

/// Rounded to the nearest number of 8 bits, by hand.
uint32_t bf16_bits(double x) {
  if (std::isnan(x)) return kNaN16;
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  const double m = std::fabs(x);
  if (m == 0) return sign;
  if (std::isinf(m)) return sign | 0x7f80;
  const int exponent = std::max(std::ilogb(m), -126);
  const double unit = std::ldexp(1.0, exponent - 7);
  const double rounded = std::nearbyint(m / unit) * unit;  // the quotient is exact
  if (rounded >= 0x1p128) return sign | 0x7f80;
  return sign | raw(static_cast<float>(rounded)) >> 16;
}

double towards_the_rest(double a, double c) {
  const double sum = a + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - a;
  const double rest = (a - (sum - part)) + (c - part);
  return rest == 0 ? sum : std::nextafter(sum, rest > 0 ? INFINITY : -INFINITY);
}

struct Style {
  bool relu = false, nan = false, xorsign = false, ftz = false;
};
using Rule = uint32_t (*)(const uint32_t* h, const Style& s);

std::optional<Op> bf16_halves(Mods& m, unsigned n, Rule rule) {
  m.take("rn");
  const Style s{m.take("relu"), m.take("NaN"), m.take("xorsign") && m.take("abs"), false};
  const auto t = m.type();
  if (!t || !t->name.starts_with("bf16")) return {};
  return Op{
      {}, std::vector<Operand>(n, {*t}), {{*t}}, [=, count = t->bits / 16](Args in, Results out) {
        out[0] = 0;
        for (unsigned i = 0; i < count; ++i) {
          uint32_t h[3] = {};
          for (unsigned k = 0; k < n; ++k) h[k] = static_cast<uint32_t>(in[k] >> (16 * i) & 0xffff);
          uint32_t r = rule(h, s);
          if (s.relu && (r & 0x8000) != 0) r = 0;
          out[0] |= uint64_t{r} << (16 * i);
        }
      }};
}

std::optional<Op> add(const std::string&, Mods& m) {
  return bf16_halves(m, 2, [](const uint32_t* h, const Style&) {
    return bf16_bits(towards_the_rest(b(h[0]), b(h[1])));
  });
}
std::optional<Op> sub(const std::string&, Mods& m) {
  return bf16_halves(m, 2, [](const uint32_t* h, const Style&) {
    return bf16_bits(towards_the_rest(b(h[0]), -b(h[1])));
  });
}
std::optional<Op> mul(const std::string&, Mods& m) {
  return bf16_halves(m, 2,
                     [](const uint32_t* h, const Style&) { return bf16_bits(b(h[0]) * b(h[1])); });
}
std::optional<Op> fma(const std::string&, Mods& m) {
  return bf16_halves(m, 3, [](const uint32_t* h, const Style&) {
    return bf16_bits(towards_the_rest(b(h[0]) * b(h[1]), b(h[2])));
  });
}
std::optional<Op> neg(const std::string&, Mods& m) {
  return bf16_halves(m, 1, [](const uint32_t* h, const Style&) { return h[0] ^ 0x8000; });
}
std::optional<Op> abs_(const std::string&, Mods& m) {
  const bool two = m.take("abs");
  return two ? std::nullopt
             : bf16_halves(m, 1, [](const uint32_t* h, const Style&) { return h[0] & 0x7fff; });
}

/// The smaller or larger of two, as `value` reads them; the one NaN of `bits` bits.
template <typename Value>
uint64_t chosen(uint64_t x, uint64_t y, unsigned bits, bool greater, const Style& s, Value value) {
  const uint64_t sign = uint64_t{1} << (bits - 1), product = (x ^ y) & sign;
  if (s.xorsign) x &= sign - 1, y &= sign - 1;
  const double a = value(x), c = value(y);
  uint64_t r = x;
  if (std::isnan(a) || std::isnan(c)) {
    if (s.nan || std::isnan(a) == std::isnan(c)) return sign - 1;
    r = std::isnan(a) ? y : x;
  } else {
    const bool a_less = a < c || (a == c && std::signbit(a));
    r = a_less == greater ? y : x;
  }
  return s.xorsign ? r | product : r;
}

template <bool kGreater>
std::optional<Op> bf16_extreme(const std::string&, Mods& m) {
  return bf16_halves(m, 2, [](const uint32_t* h, const Style& s) {
    return static_cast<uint32_t>(chosen(h[0], h[1], 16, kGreater, s,
                                        [](uint64_t v) { return b(static_cast<uint32_t>(v)); }));
  });
}

/// min and max with .xorsign.abs of f32 and f16.
template <bool kGreater>
std::optional<Op> xorsign(Mods& m) {
  const Style s{false, m.take("NaN"), m.take("xorsign") && m.take("abs"), m.take("ftz")};
  const auto t = m.type();
  if (!t || !s.xorsign || !t->is_float() || t->bits == 64) return {};
  const unsigned bits = t->name == "f32" ? 32 : 16;
  return Op{{}, {{*t}, {*t}}, {{*t}}, [=, all = t->bits](Args in, Results out) {
              const uint64_t exponent = bits == 32 ? 0x7f800000 : 0x7c00;
              const uint64_t sign = uint64_t{1} << (bits - 1);
              out[0] = 0;
              for (unsigned at = 0; at < all; at += bits) {
                uint64_t x[2];
                for (unsigned k = 0; k < 2; ++k) {
                  x[k] = in[k] >> at & mask(bits);
                  if (s.ftz && (x[k] & exponent) == 0) x[k] &= sign;
                }
                out[0] |= chosen(x[0], x[1], bits, kGreater, s,
                                 [&](uint64_t v) {
                                   const auto low = static_cast<uint32_t>(v);
                                   return bits == 32 ? static_cast<double>(f32_of(low))
                                                     : f16_to_double(low);
                                 })
                          << at;
              }
            }};
}

/// Pairs of 16-bit integers, and s32 with .relu.
std::optional<Op> integers(Mods& m, Wide (*rule)(Wide, Wide)) {
  const bool relu = m.take("relu");
  const std::string pair = m.one_of({"u16x2", "s16x2"});
  const Type word{"u32", 'u', 32};
  Type t{{}, pair == "s16x2" ? 's' : 'u', 16};
  if (pair.empty()) {
    const auto whole = m.type();
    if (!whole || whole->name != "s32" || !relu) return {};
    t = *whole;
  }
  return Op{{}, {{word}, {word}}, {{word}}, [=](Args in, Results out) {
              out[0] = 0;
              for (unsigned at = 0; at < 32; at += t.bits) {
                Wide r = rule(number(t, in[0] >> at), number(t, in[1] >> at));
                if (relu && r < 0) r = 0;
                out[0] |= (static_cast<uint64_t>(r) & mask(t.bits)) << at;
              }
            }};
}

std::optional<Op> add_any(const std::string& form, Mods& m) {
  if (form.ends_with("16x2") && !form.ends_with("f16x2"))
    return integers(m, [](Wide x, Wide y) { return x + y; });
  return add(form, m);
}
template <bool kGreater>
std::optional<Op> extreme_any(const std::string& form, Mods& m) {
  if (form.find("bf16") != std::string::npos) return bf16_extreme<kGreater>(form, m);
  if (form.find("xorsign") != std::string::npos) return xorsign<kGreater>(m);
  return integers(m, [](Wide x, Wide y) { return (x < y) == kGreater ? y : x; });
}

/// The f16 fma of half.cpp without what is negative.
std::optional<Op> fma_any(const std::string& form, Mods& m) {
  if (form.find("bf16") != std::string::npos) return fma(form, m);
  if (!m.take("relu")) return {};
  std::optional<Op> op = half::makers().at("fma")(form, m);
  if (!op) return {};
  op->value = [plain = op->value](Args in, Results out) {
    plain(in, out);
    for (unsigned at = 0; at < 32; at += 16)
      if ((out[0] >> at & 0x8000) != 0) out[0] &= ~(uint64_t{0xffff} << at);
  };
  return op;
}

// --- approximate ---------------------------------------------------------------------------------

using Exact = long double (*)(long double);
using Near = bool (*)(long double got, long double exact);

std::optional<Op> function(Mods& m, Exact exact, Near near, const char* bound) {
  if (!m.take("approx")) return {};
  const bool ftz = m.take("ftz");
  const auto t = m.type();
  if (!t || !t->name.starts_with("bf16")) return {};
  Op op{{}, {{*t}}, {{*t}}, {}};
  op.bound = bound;
  op.near = [=, count = t->bits / 16](Args in, Args got) {
    for (unsigned i = 0; i < count; ++i) {
      const auto x = static_cast<uint32_t>(in[0] >> (16 * i) & 0xffff);
      const auto y = static_cast<uint32_t>(got[0] >> (16 * i) & 0xffff);
      const long double want = exact(static_cast<long double>(flushed(f32_of(x << 16), ftz)));
      if (std::isnan(want) ? y == kNaN16 : std::isinf(want) ? y == 0x7f80 : false) continue;
      if (std::isnan(want) || std::isinf(want)) return false;
      if (want > 0x1.fep127L) {
        if (y == 0x7f80 || y == 0x7f7f) continue;
        return false;
      }
      if (ftz && std::fabs(want) < 0x1.01p-126L && (y & 0x7fff) <= 0x80) continue;
      if (!near(static_cast<long double>(b(y)), want)) return false;
    }
    return true;
  };
  return op;
}

std::optional<Op> ex2(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::exp2(x); },
      [](long double got, long double exact) {
        return std::fabs(got - exact) <= 0x1p-7L * std::fabs(exact);
      },
      "2^-7 relative");
}
std::optional<Op> tanh_(const std::string&, Mods& m) {
  return function(
      m, [](long double x) { return std::tanh(x); },
      [](long double got, long double exact) { return std::fabs(got - exact) <= 0x1p-8L; }, "2^-8");
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"add", add_any},
                                {"sub", sub},
                                {"mul", mul},
                                {"fma", fma_any},
                                {"neg", neg},
                                {"abs", abs_},
                                {"ex2", ex2},
                                {"tanh", tanh_},
                                {"min", extreme_any<false>},
                                {"max", extreme_any<true>}};
  return makers;
}

}  // namespace values::ptx::bfloat
