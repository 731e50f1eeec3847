// Double precision: the host computes in the kernel's rounding direction; subnormals are flushed
// here where the mode says so.
#include <fmt/format.h>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::doubles {

namespace {

/// Operands are words of the inputs; `bits` are the instruction's operand as 64 bits.
struct Source {
  std::string text;
  std::function<uint64_t(const Lane&)> bits;
};
Source pair(unsigned word) {
  return {fmt::format("v[{}:{}]", 10 + word, 11 + word),
          [word](const Lane& l) { return l.pair(word); }};
}
Source single(unsigned word) {
  return {fmt::format("v{}", 10 + word), [word](const Lane& l) { return uint64_t{l[word]}; }};
}
Source fixed(std::string text, uint64_t bits) {
  return {std::move(text), [bits](const Lane&) { return bits; }};
}
Source scalar() {
  return {"s[26:27]", [](const Lane&) { return wide(kConstants[2], kConstants[3]); }};
}
Source negative(const Source& s) {
  return {"-" + s.text, [s](const Lane& l) { return s.bits(l) ^ uint64_t { 1 } << 63; }};
}
Source absolute(const Source& s) {
  return {"|" + s.text + "|", [s](const Lane& l) { return s.bits(l) & ~(uint64_t{1} << 63); }};
}

using Function = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

Step step(const std::string& name, const std::vector<Source>& sources, unsigned words,
          const Function& f, bool clamp = false) {
  Step s{name + (words == 2 ? " {p}" : " {d}"), nullptr, words};
  for (const Source& o : sources) s.text += ", " + o.text;
  if (clamp) s.text += " clamp";
  s.rule = [=](const Lane& l, Out out) {
    uint64_t v[3] = {0, 0, 0};
    for (size_t n = 0; n < sources.size(); ++n) v[n] = sources[n].bits(l);
    uint64_t r = f(v[0], v[1], v[2]);
    if (clamp) r = raw(saturated(f64_of(r)));
    out[0] = static_cast<uint32_t>(r);
    if (words == 2) out[1] = static_cast<uint32_t>(r >> 32);
  };
  return s;
}

/// What the mode makes of operands and results.
struct Wide {
  Mode mode;
  double cut(double x, bool keep) const {
    return keep || std::fpclassify(x) != FP_SUBNORMAL ? x : std::copysign(0.0, x);
  }
  double operand(uint64_t x) const { return cut(f64_of(x), (mode.wide_subnormals & 1) != 0); }
  uint64_t result(double x) const { return bits(cut(x, (mode.wide_subnormals & 2) != 0)); }
  template <typename F>
  uint64_t operator()(F f, uint64_t a, uint64_t b = 0, uint64_t c = 0) const {
    const volatile double x = operand(a), y = operand(b), z = operand(c);
    const Rounding direction(mode.direction());
    const volatile double r = f(x, y, z);
    return result(r);
  }
};

Case marked(Case c) {
  c.doubles = true;
  return c;
}

void long_form(const std::string& name, unsigned sources, const Function& f, std::vector<Case>& out,
               bool clamps = true) {
  std::vector<Source> all;
  std::vector<Pool> pools;
  for (unsigned n = 0; n < sources; ++n) {
    all.push_back(pair(2 * n));
    pools.push_back(f64());
  }
  const auto with = [&](size_t at, const Source& s) {
    std::vector<Source> changed = all;
    changed[at] = s;
    return changed;
  };
  std::vector<Step> steps = {step(name, all, 2, f), step(name, with(0, scalar()), 2, f),
                             step(name, with(1, fixed("-0.5", 0xbfe0000000000000)), 2, f),
                             step(name, with(1, fixed("-16", ~uint64_t{15})), 2, f),
                             step(name, with(0, negative(absolute(all[0]))), 2, f)};
  if (clamps) steps.push_back(step(name, with(1, negative(all[1])), 2, f, true));
  out.push_back(marked(vector_case(name, with_flags(pools), steps)));
}

void arithmetic(Mode mode, std::vector<Case>& out) {
  const Wide w{mode};
  const auto two = [&](const char* name, auto f) {
    long_form(
        name, 2, [w, f](uint64_t a, uint64_t b, uint64_t) { return w(f, a, b); }, out);
  };
  two("v_add_f64", [](double x, double y, double) { return x + y; });
  two("v_mul_f64", [](double x, double y, double) { return x * y; });
  long_form(
      "v_fma_f64", 3,
      [w](uint64_t a, uint64_t b, uint64_t c) {
        return w([](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
      },
      out);
}

bool is_nan(uint64_t x) {
  return std::isnan(f64_of(x));
}
bool is_signalling(uint64_t x) {
  return is_nan(x) && (x >> 51 & 1) == 0;
}
bool below(uint64_t a, uint64_t b) {
  if (a >> 63 != b >> 63) return a >> 63 != 0;
  return a >> 63 != 0 ? a > b : a < b;
}
/// No mode flushes; a signalling NaN is like others where the mode is not IEEE's.
void extremes(Mode mode, std::vector<Case>& out) {
  for (const bool least : {true, false})
    long_form(
        least ? "v_min_f64" : "v_max_f64", 2,
        [mode, least](uint64_t a, uint64_t b, uint64_t) {
          if (mode.ieee && (is_signalling(a) || is_signalling(b))) return kNaN64;
          if (is_nan(a) && is_nan(b)) return kNaN64;
          if (is_nan(a)) return b;
          if (is_nan(b)) return a;
          return below(a, b) == least ? a : b;
        },
        out);
}

/// One source: short and long encoding. `from` and `to` are words.
void short_and_long(const std::string& name, unsigned from, unsigned to, const Pool& pool,
                    const Function& f, std::vector<Case>& out, bool real_source = true) {
  const Source x = from == 2 ? pair(0) : single(0);
  const Tuples inputs = with_flags({pool});
  const Source minus = from == 2 ? fixed("-16", ~uint64_t{15}) : fixed("-16", 0xfffffff0);
  // Of a double a literal is the upper half.
  const Source literal =
      from == 2 ? fixed("0xbfb504f3", 0xbfb504f300000000) : fixed("0xbfb504f3", 0xbfb504f3);
  out.push_back(
      marked(vector_case(name, inputs,
                         {step(name + "_e32", {x}, to, f), step(name + "_e32", {minus}, to, f),
                          step(name + "_e32", {literal}, to, f)})));
  std::vector<Step> steps = {step(name + "_e64", {x}, to, f), step(name + "_e64", {minus}, to, f)};
  if (real_source && from == 2) {
    steps.push_back(step(name + "_e64", {negative(x)}, to, f));
    steps.push_back(step(name + "_e64", {absolute(x)}, to, f));
  }
  out.push_back(marked(vector_case(name + "_e64", inputs, steps)));
}

void rounds(Mode mode, std::vector<Case>& out) {
  const Wide w{mode};
  const struct {
    const char* name;
    double (*f)(double);
  } all[] = {{"v_trunc_f64", std::trunc},
             {"v_ceil_f64", std::ceil},
             {"v_floor_f64", std::floor},
             {"v_rndne_f64", std::nearbyint}};
  for (const auto& r : all)
    short_and_long(
        r.name, 2, 2, f64(),
        [w, f = r.f](uint64_t a, uint64_t, uint64_t) {
          const volatile double x = w.operand(a);
          const Rounding nearest(FE_TONEAREST);
          return bits(f(x));
        },
        out);
}

void parts(Mode mode, std::vector<Case>& out) {
  const Wide w{mode};
  short_and_long(
      "v_fract_f64", 2, 2, f64(),
      [w](uint64_t a, uint64_t, uint64_t) {
        const volatile double x = w.operand(a);
        const Rounding direction(w.mode.direction());
        const volatile double whole = std::floor(x);
        const volatile double r = x - whole;
        return r >= 1 ? 0x3fefffffffffffff : w.result(r);
      },
      out);
  const auto split = [w](uint64_t a, int& e) {
    e = 0;
    const double x = w.operand(a);
    return std::isfinite(x) ? std::frexp(x, &e) : x;
  };
  short_and_long(
      "v_frexp_mant_f64", 2, 2, f64(),
      [split](uint64_t a, uint64_t, uint64_t) {
        int e = 0;
        return bits(split(a, e));
      },
      out);
  short_and_long(
      "v_frexp_exp_i32_f64", 2, 1, f64(),
      [split](uint64_t a, uint64_t, uint64_t) {
        int e = 0;
        split(a, e);
        return uint64_t{static_cast<uint32_t>(e)};
      },
      out);
  const Function scale = [w](uint64_t a, uint64_t n, uint64_t) {
    const volatile double x = w.operand(a);
    const int by = std::clamp(static_cast<int32_t>(n), -5000, 5000);
    const Rounding direction(w.mode.direction());
    const volatile double r = std::ldexp(x, by);
    return w.result(r);
  };
  const Pool amounts =
      shifts().with({0xfffffff0, 0xfffffc01, 0xfffffbcd, 0xfffff7ff, 1023, 1024, 2100, 0x7fffffff});
  out.push_back(
      marked(vector_case("v_ldexp_f64", with_flags({f64(), amounts}),
                         {step("v_ldexp_f64", {pair(0), single(2)}, 2, scale),
                          step("v_ldexp_f64", {negative(pair(0)), single(2)}, 2, scale),
                          step("v_ldexp_f64", {pair(0), fixed("-16", 0xfffffff0)}, 2, scale)})));
}

}  // namespace

void conversion_cases(Mode mode, std::vector<Case>& out) {
  const Wide w{mode};
  const auto from_integer = [](auto value) {
    return [value](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<double>(value(a))); };
  };
  short_and_long("v_cvt_f64_i32", 1, 2, u32(24),
                 from_integer([](uint64_t a) { return static_cast<int32_t>(a); }), out, false);
  short_and_long("v_cvt_f64_u32", 1, 2, u32(24),
                 from_integer([](uint64_t a) { return static_cast<uint32_t>(a); }), out, false);
  short_and_long(
      "v_cvt_f64_f32", 1, 2, f32(24),
      [mode](uint64_t a, uint64_t, uint64_t) {
        return bits(static_cast<double>(flushed(f32_of(static_cast<uint32_t>(a)), mode.flush)));
      },
      out);
  short_and_long(
      "v_cvt_f32_f64", 2, 1, f64(24),
      [w](uint64_t a, uint64_t, uint64_t) {
        const volatile double x = w.operand(a);
        const Rounding direction(w.mode.direction());
        const volatile float r = static_cast<float>(x);
        return uint64_t{bits(flushed(r, w.mode.flush))};
      },
      out);
  const auto to_integer = [](double least, double most) {
    return [=](uint64_t a, uint64_t, uint64_t) -> uint64_t {
      const double x = f64_of(a);
      if (std::isnan(x)) return 0;
      return static_cast<uint32_t>(static_cast<int64_t>(std::clamp(std::trunc(x), least, most)));
    };
  };
  short_and_long("v_cvt_i32_f64", 2, 1, f64(24), to_integer(-2147483648.0, 2147483647.0), out);
  short_and_long("v_cvt_u32_f64", 2, 1, f64(24), to_integer(0, 4294967295.0), out);
}

namespace {

double finite(double x) {
  return std::isinf(x) ? std::copysign(f64_of(0x7fefffffffffffff), x) : x;
}

/// Rounded right here, though the hardware's are not: the bound is its own.
void approximate(Generation g, Mode mode, std::vector<Case>& out) {
  const Wide w{mode};
  struct Unary {
    const char* name;
    double (*f)(double);
  };
  std::vector<Unary> all = {{"v_rcp_f64", [](double x) { return 1 / x; }},
                            {"v_rsq_f64", [](double x) { return 1 / std::sqrt(x); }},
                            {"v_sqrt_f64", [](double x) { return std::sqrt(x); }}};
  if (g != kGfx8) {
    all.push_back({"v_rcp_clamp_f64", [](double x) { return finite(1 / x); }});
    all.push_back({"v_rsq_clamp_f64", [](double x) { return finite(1 / std::sqrt(x)); }});
  }
  for (const auto& a : all) {
    std::vector<Case> cases;
    short_and_long(
        a.name, 2, 2, f64(40),
        [w, f = a.f](uint64_t x, uint64_t, uint64_t) {
          return w([f](double v, double, double) { return f(v); }, x);
        },
        cases);
    for (Case& c : cases) {
      const auto whole = c.wave;
      c.bound = Bound{"2^-28 relative", [whole](In in, In got) {
                        std::vector<uint32_t> want(got.size());
                        const In lanes[] = {in};
                        const Out places[] = {want};
                        whole(lanes, places);
                        for (size_t n = 0; n + 1 < got.size(); n += 2) {
                          const uint64_t g = wide(got[n], got[n + 1]),
                                         t = wide(want[n], want[n + 1]);
                          const double x = f64_of(g), y = f64_of(t);
                          const bool near = std::fabs(x - y) <= 0x1p-28 * std::fabs(y);
                          if (g != t && !near) return false;
                        }
                        return true;
                      }};
      out.push_back(std::move(c));
    }
  }
}

}  // namespace

void cases(Generation g, Mode mode, std::vector<Case>& out) {
  arithmetic(mode, out);
  extremes(mode, out);
  if (g != kGfx6) rounds(mode, out);
  parts(mode, out);
  doubles::conversion_cases(mode, out);
  approximate(g, mode, out);
}

}  // namespace values::gcn::doubles
