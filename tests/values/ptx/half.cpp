// f16 and f16x2: sums and products of halves are exact in double except for the sum of a fused
// multiply-add, which long double holds; one rounding to nearest makes the result.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::half {

namespace {

struct Style {
  bool ftz = false, sat = false, nan = false;
};

uint32_t flushed16(uint32_t h, bool ftz) {
  return ftz && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

uint32_t finished(double exact, const Style& s) {
  const uint32_t h = half_result(exact, s.ftz);
  if (!s.sat) return h;
  const double x = f16_to_double(h);
  return x > 0 ? (x < 1 ? h : 0x3c00) : 0;
}

using Rule = uint32_t (*)(const uint32_t* h, const Style& s);

/// The rule on each half by itself.
std::optional<Op> halves(Mods& m, unsigned n, Rule rule) {
  m.take("rn");
  const Style s{m.take("ftz"), m.take("sat"), m.take("NaN")};
  const auto t = m.type();
  if (!t || !t->name.starts_with("f16")) return {};
  return Op{
      {}, std::vector<Operand>(n, {*t}), {{*t}}, [=, count = t->bits / 16](Args in, Results out) {
        out[0] = 0;
        for (unsigned i = 0; i < count; ++i) {
          uint32_t h[3] = {};
          for (unsigned k = 0; k < n; ++k)
            h[k] = flushed16(static_cast<uint32_t>(in[k] >> (16 * i) & 0xffff), s.ftz);
          out[0] |= uint64_t{rule(h, s)} << (16 * i);
        }
      }};
}

double d(uint32_t h) {
  return f16_to_double(h);
}

std::optional<Op> add(const std::string&, Mods& m) {
  return halves(m, 2,
                [](const uint32_t* h, const Style& s) { return finished(d(h[0]) + d(h[1]), s); });
}
std::optional<Op> sub(const std::string&, Mods& m) {
  return halves(m, 2,
                [](const uint32_t* h, const Style& s) { return finished(d(h[0]) - d(h[1]), s); });
}
std::optional<Op> mul(const std::string&, Mods& m) {
  return halves(m, 2,
                [](const uint32_t* h, const Style& s) { return finished(d(h[0]) * d(h[1]), s); });
}
/// The double nearest to the sum may lie halfway between two halves when the sum does not: it is
/// then moved towards what was left out.
double sum_for_rounding(double product, double c) {
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;
  const double rest = (product - (sum - part)) + (c - part);
  if (rest == 0) return sum;
  return std::nextafter(sum, rest > 0 ? INFINITY : -INFINITY);
}
std::optional<Op> fma(const std::string&, Mods& m) {
  return halves(m, 3, [](const uint32_t* h, const Style& s) {
    return finished(sum_for_rounding(d(h[0]) * d(h[1]), d(h[2])), s);
  });
}

std::optional<Op> neg(const std::string&, Mods& m) {
  return halves(m, 1, [](const uint32_t* h, const Style&) { return h[0] ^ 0x8000; });
}
std::optional<Op> abs(const std::string&, Mods& m) {
  return halves(m, 1, [](const uint32_t* h, const Style&) { return h[0] & 0x7fff; });
}

uint32_t chosen(const uint32_t* h, const Style& s, bool greater) {
  const double a = d(h[0]), b = d(h[1]);
  if (std::isnan(a) || std::isnan(b)) {
    if (s.nan || std::isnan(a) == std::isnan(b)) return kNaN16;
    return std::isnan(a) ? h[1] : h[0];
  }
  const bool a_less = a < b || (a == b && std::signbit(a));
  return a_less == greater ? h[1] : h[0];
}
std::optional<Op> min(const std::string&, Mods& m) {
  return halves(m, 2, [](const uint32_t* h, const Style& s) { return chosen(h, s, false); });
}
std::optional<Op> max(const std::string&, Mods& m) {
  return halves(m, 2, [](const uint32_t* h, const Style& s) { return chosen(h, s, true); });
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"add", add}, {"sub", sub}, {"mul", mul}, {"fma", fma},
                                {"neg", neg}, {"abs", abs}, {"min", min}, {"max", max}};
  return makers;
}

}  // namespace values::ptx::half
