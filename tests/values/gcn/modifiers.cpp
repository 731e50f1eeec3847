// Output modifiers, and conditions as operands.
#include <fmt/format.h>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::modifiers {

namespace {

enum class Width { half, single, twice };

/// One float of any width as a double, which holds all of them.
double number(uint64_t x, Width w) {
  if (w == Width::half) return f16_to_double(x & 0xffff);
  return w == Width::single ? double{f32_of(static_cast<uint32_t>(x))} : f64_of(x);
}
double least_normal(Width w) {
  return w == Width::half ? 0x1p-14 : w == Width::single ? 0x1p-126 : 0x1p-1022;
}
/// Rounded in the host's direction.
uint64_t number_bits(double x, Width w) {
  if (w == Width::half) return f16_bits(x);
  if (w == Width::twice) return bits(x);
  const volatile double exact = x;
  return bits(static_cast<float>(exact));
}

/// What the mode says of results and of operands.
struct Result {
  Mode mode;
  Width width;

  bool keeps() const {
    return width == Width::single ? !mode.flush : (mode.wide_subnormals & 2) != 0;
  }
  bool keeps_operands() const {
    return width == Width::single ? !mode.flush : (mode.wide_subnormals & 1) != 0;
  }
  bool is_subnormal(uint64_t x) const {
    const double v = std::fabs(number(x, width));
    return v != 0 && v < least_normal(width);
  }
  uint64_t zero_like(uint64_t x) const {
    return number_bits(std::signbit(number(x, width)) ? -0.0 : 0.0, width);
  }
  uint64_t cut(uint64_t x, bool keep) const { return !keep && is_subnormal(x) ? zero_like(x) : x; }
  /// The instruction's result, as it is without a modifier.
  uint64_t of(double exact) const { return flushed(exact, keeps()); }
  /// Rounded; f32 and f16 as if exponents had no end where what is below the normal numbers is a
  /// zero then.
  uint64_t flushed(double exact, bool keep) const {
    const uint64_t r = number_bits(exact, width);
    if (keep || keeps_operands() || width == Width::twice) return cut(r, keep);
    const int up = width == Width::half ? 8 : 64;
    const double larger = number(number_bits(std::ldexp(exact, up), width), width);
    return std::fabs(larger) < std::ldexp(least_normal(width), up) ? zero_like(r) : r;
  }
  uint64_t scaled(uint64_t x, double factor) const {
    if (mode.ieee || keeps()) return x;
    x = cut(x, false);
    const volatile double v = number(x, width);
    const volatile double product = v * factor;
    const uint64_t r = flushed(product, false);
    return number(r, width) == 0 ? 0 : r;
  }
  uint64_t clamped(uint64_t x) const { return number_bits(saturated(number(x, width)), width); }
};

struct Modifier {
  const char* text;
  double factor;
};
constexpr Modifier kModifiers[] = {{" mul:2", 2}, {" mul:4", 4}, {" div:2", 0.5}};

/// `exact` computes without rounding, or rounds as the width does.
using Function = double (*)(double x, double y, double z);
struct Scaled {
  const char* name;
  Width width;
  unsigned sources;
  Function exact;
};

/// Of f32 in doubles: sums and products of two are exact enough to be rounded once more.
const Scaled kScaled[] = {
    {"v_add_f32_e64", Width::single, 2, [](double x, double y, double) { return x + y; }},
    {"v_mul_f32_e64", Width::single, 2, [](double x, double y, double) { return x * y; }},
    {"v_add_f64", Width::twice, 2, [](double x, double y, double) { return x + y; }},
    {"v_mul_f64", Width::twice, 2, [](double x, double y, double) { return x * y; }},
    {"v_fma_f64", Width::twice, 3, [](double x, double y, double z) { return std::fma(x, y, z); }}};
const Scaled kHalves[] = {
    {"v_add_f16_e64", Width::half, 2, [](double x, double y, double) { return x + y; }},
    {"v_mul_f16_e64", Width::half, 2, [](double x, double y, double) { return x * y; }}};

Pool pool_of(Width w) {
  return w == Width::half ? f16() : w == Width::single ? f32() : f64();
}

Step scaled_step(const Scaled& s, Mode mode, const Modifier& m, bool clamp) {
  const Result result{mode, s.width};
  const unsigned words = s.width == Width::twice ? 2 : 1;
  Step step{std::string(s.name) + (words == 2 ? " {p}" : " {d}"), nullptr, words};
  for (unsigned n = 0; n < s.sources; ++n)
    step.text += words == 2 ? fmt::format(", v[{}:{}]", 10 + 2 * n, 11 + 2 * n)
                            : fmt::format(", v{}", 10 + n);
  step.text += (clamp ? " clamp" : "") + std::string(m.text);
  step.rule = [=](const Lane& l, Out out) {
    double v[3] = {0, 0, 0};
    for (unsigned n = 0; n < s.sources; ++n) {
      const uint64_t raw_bits = words == 2 ? l.pair(2 * n) : l[n];
      v[n] = number(result.cut(s.width == Width::half ? raw_bits & 0xffff : raw_bits,
                               result.keeps_operands()),
                    s.width);
    }
    const Rounding direction(mode.direction());
    const volatile double x = v[0], y = v[1], z = v[2];
    volatile double exact = 0;
    if (s.width == Width::single) {
      const volatile float a = static_cast<float>(x), b = static_cast<float>(y);
      const volatile float sum = a + b;  // rounded once, as floats
      exact = s.exact(1, 1, 0) == 2 ? sum : x * y;
    } else {
      exact = s.exact(x, y, z);
    }
    uint64_t r = result.scaled(result.of(exact), m.factor);
    if (clamp) r = result.clamped(r);
    out[0] = static_cast<uint32_t>(r);
    if (words == 2) out[1] = static_cast<uint32_t>(r >> 32);
  };
  return step;
}

void add_scaled(const Scaled& s, Mode mode, std::vector<Case>& out) {
  std::vector<Step> steps;
  for (const Modifier& m : kModifiers) steps.push_back(scaled_step(s, mode, m, false));
  steps.push_back(scaled_step(s, mode, kModifiers[2], true));
  Case c = vector_case(
      s.name,
      with_flags(std::vector<Pool>(s.sources, pool_of(s.width)), s.sources == 3 ? 4096 : 2048),
      steps);
  c.doubles = s.width == Width::twice;
  out.push_back(std::move(c));
}

/// Conversions, and instructions that never give subnormals.
void add_others(Mode mode, std::vector<Case>& out) {
  const Result result{mode, Width::single};
  Step from_integer{"v_cvt_f32_i32_e64 {d}, v10 mul:4", nullptr};
  from_integer.rule = [=](const Lane& l, Out o) {
    const Rounding direction(mode.direction());
    o[0] = static_cast<uint32_t>(result.scaled(result.of(static_cast<int32_t>(l[0])), 4));
  };
  out.push_back(vector_case("v_cvt_f32_i32_e64", with_flags({u32(24)}), {from_integer}));
  if (!mode.ieee && !mode.flush) return;  // refused
  const auto flushing = [](float x) { return values::flushed(x); };
  for (const bool adds : {false, true}) {
    Step step{adds ? "v_mac_f32_e64 {d}, v10, v11 div:2" : "v_mad_f32 {d}, v10, v11, v12 div:2",
              nullptr};
    if (adds) step.old = 2;
    step.rule = [=](const Lane& l, Out o) {
      const volatile float x = flushing(f32_of(l[0])), y = flushing(f32_of(l[1])),
                           z = flushing(f32_of(l[2]));
      const Rounding direction(mode.direction());
      const volatile float product = flushed_result([&](float k) { return k * x * y; }, true);
      const volatile float sum = product + z;
      o[0] = static_cast<uint32_t>(result.scaled(bits(flushing(sum)), 0.5));
    };
    out.push_back(vector_case(adds ? "v_mac_f32_e64" : "v_mad_f32",
                              with_flags({f32(), f32(), f32()}), {step}));
  }
}

// ---- Conditions

uint32_t is_zero(uint64_t mask) {
  return mask == 0 ? 1 : 0;
}
/// The lanes of the wave that run and whose inputs differ.
uint64_t different(const Lane& l) {
  uint64_t m = 0;
  for (size_t n = 0; n < l.wave.size(); ++n)
    if ((l.mask(0) >> n & 1) != 0 && l.wave[n][0] != l.wave[n][1]) m |= uint64_t{1} << n;
  return m;
}

}  // namespace

void output_scale_cases(Generation g, Mode mode, std::vector<Case>& out) {
  for (const Scaled& s : kScaled) add_scaled(s, mode, out);
  if (g == kGfx8)
    for (const Scaled& s : kHalves) add_scaled(s, mode, out);
  add_others(mode, out);
}

void condition_cases(Generation, std::vector<Case>& out) {
  const Pool few{1, {0, 1, 0x80000000}};
  const auto of_vector = [](const std::string& text, std::function<uint32_t(const Lane&)> value) {
    Step s{text, nullptr};
    s.rule = [value](const Lane& l, Out o) { o[0] = value(l); };
    return s;
  };
  out.push_back(vector_case(
      "v_mov_b32", with_flags({few, few}, 4096),
      {of_vector("v_cmp_ne_u32_e32 vcc, v10, v11\nv_mov_b32 {d}, src_vccz",
                 [](const Lane& l) { return is_zero(different(l)); }),
       of_vector("s_mov_b64 vcc, 0\nv_mov_b32 {d}, src_vccz", [](const Lane&) { return 1U; }),
       of_vector("s_mov_b32 vcc_lo, 0\ns_mov_b32 vcc_hi, 4\nv_mov_b32 {d}, src_vccz",
                 [](const Lane&) { return 0U; }),
       // Lanes that run see EXEC, which is not zero.
       of_vector("v_add_x {d}, vcc, src_execz, v10", [](const Lane& l) { return l[0]; }),
       of_vector("v_cmp_ne_u32_e32 vcc, v10, v11\nv_lshlrev_b32 {d}, src_vccz, v11",
                 [](const Lane& l) { return l[1] << is_zero(different(l)); })}));
  const auto scalar = [](const std::string& text, auto rule, unsigned words = 1) {
    return ScalarStep{text, rule, words, true};
  };
  // Two words and SCC.
  Tuples inputs;
  for (const uint32_t a : {0U, 1U, 0x80000000U})
    for (const uint32_t b : {0U, 5U})
      for (const uint32_t scc : {0U, 1U}) inputs.push_back({a, b, scc});
  out.push_back(scalar_case(
      "s_mov_b32", inputs,
      {scalar("s_mov_b32 {d}, src_scc", [](In in, Out o) { o[0] = in[2] & 1, o[1] = in[2] & 1; }),
       scalar("s_add_u32 {d}, src_scc, s32",
              [](In in, Out o) {
                o[0] = in[0] + (in[2] & 1);
                o[1] = o[0] < in[0] ? 1 : 0;
              }),
       scalar(
           "s_mov_b64 {p}, src_scc",
           [](In in, Out o) { o[0] = in[2] & 1, o[1] = 0, o[2] = in[2] & 1; }, 2),
       scalar("s_mov_b64 vcc, s[32:33]\ns_add_u32 {d}, src_vccz, src_execz",
              [](In in, Out o) { o[0] = is_zero(wide(in[0], in[1])), o[1] = 0; }),
       scalar("s_mov_b64 s[40:41], exec\ns_mov_b64 exec, 0\ns_mov_b32 {d}, src_execz\n"
              "s_mov_b64 exec, s[40:41]",
              [](In in, Out o) { o[0] = 1, o[1] = in[2] & 1; }),
       scalar("s_mov_b64 vcc, s[32:33]\ns_cmp_eq_u32 src_vccz, 1\ns_cselect_b32 {d}, 7, 9",
              [](In in, Out o) {
                o[1] = is_zero(wide(in[0], in[1]));
                o[0] = o[1] != 0 ? 7 : 9;
              })}));
}

}  // namespace values::gcn::modifiers
