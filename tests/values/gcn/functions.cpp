// Functions of f32: approximate ones inside a bound, and exact ones.
#include <fmt/format.h>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::functions {

namespace {

using Real = double (*)(double);

/// An approximate function: the true value of operands that count subnormals as zeros.
struct Approximate {
  const char* name;
  Real f;
  double bound, absolute;
  std::vector<uint64_t> more;  ///< operands beside the edges
};

double turns_sine(double x) {
  if (std::fabs(x) > 256) return std::isinf(x) ? NAN : 0;
  const double part = x - std::nearbyint(x);
  return part == 0 ? std::copysign(0.0, x) : std::sin(6.283185307179586 * part);
}
double turns_cosine(double x) {
  if (std::fabs(x) > 256) return std::isinf(x) ? NAN : 1;
  return std::cos(6.283185307179586 * (x - std::nearbyint(x)));
}

std::vector<uint64_t> angles() {
  std::vector<uint64_t> out;
  for (int n = -40; n <= 40; ++n) out.push_back(raw(static_cast<float>(n) / 16.0F));
  for (const float x : {255.9F, -255.7F, 256.0F, 0.1F, 0.3F, 0.7F, 100.37F, 1e-5F, -3e-9F})
    out.push_back(raw(x));
  return out;
}
std::vector<uint64_t> exponents() {
  std::vector<uint64_t> out;
  for (int n = -12; n <= 12; ++n) out.push_back(raw(static_cast<float>(n) * 10.375F));
  return out;
}

double largest_for_infinity(double x) {
  return std::isinf(x) ? std::copysign(static_cast<double>(f32_of(0x7f7fffff)), x) : x;
}

uint32_t rounded(double x) {
  const Rounding nearest(FE_TONEAREST);
  return bits(flushed(static_cast<float>(x)));
}

void approximate(Generation g, const Approximate& a, std::vector<Case>& out) {
  Operation op = {a.name, 1, Kind::real, {f32(60)}, nullptr};
  op.f = [f = a.f](auto x, auto, auto) {
    const Rounding nearest(FE_TONEAREST);
    return rounded(f(flushed(f32_of(x))));
  };
  const Tuples inputs = with_flags({f32(60).with(a.more), f32()}, 1024);
  const auto add = [&](const std::string& row, const std::vector<Step>& steps) {
    out.push_back(approximate_case(row, inputs, steps, a.bound, a.absolute));
  };
  const Source half = constant("0.5", 0x3f000000), minus = constant("-4.0", 0xc0800000);
  add(op.name, {step(op, "_e32", {vgpr(0)}), step(op, "_e32", {sgpr(0)}),
                step(op, "_e32", {constant("0x40490fdb", 0x40490fdb)}), step(op, "_e32", {half})});
  add(op.name + "_e64",
      {step(op, "_e64", {negative(vgpr(0))}), step(op, "_e64", {absolute(vgpr(0))}),
       step(op, "_e64", {vgpr(0)}, true), step(op, "_e64", {minus})});
  if (g != kGfx8) return;
  // The choice of lanes and parts is shown by the exact instructions; here each lane stays itself.
  add(op.name + ".sdwa", {step(op, "_sdwa",
                               {{"-|v10| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD",
                                 negative(absolute(vgpr(0))).value}}),
                          step(op, "_sdwa",
                               {{"v10 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
                                 [](const Lane& l) { return l[0] >> 16; }}})});
  add(op.name + ".dpp",
      {step(op, "_dpp",
            {{"|v10| quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", absolute(vgpr(0)).value}})});
}

void approximate_ones(Generation g, std::vector<Case>& out) {
  const double ulp = std::exp2(-23), root = std::exp2(-22.9);
  const Real reciprocal = [](double x) { return 1 / x; };
  const Real logarithm = [](double x) { return std::log2(x); };
  const Real power = [](double x) { return std::exp2(x); };
  std::vector<Approximate> all = {
      {"v_rcp_f32", reciprocal, ulp, 0, {}},
      {"v_rcp_iflag_f32", reciprocal, ulp, 0, {}},
      {"v_rsq_f32", [](double x) { return 1 / std::sqrt(x); }, root, 0, {}},
      {"v_sqrt_f32", [](double x) { return std::sqrt(x); }, ulp, 0, {}},
      {"v_exp_f32", power, 2 * ulp, 0, exponents()},
      {"v_log_f32", logarithm, std::exp2(-22), std::exp2(-22), {}},
      {"v_sin_f32", turns_sine, 0, std::exp2(-20.5), angles()},
      {"v_cos_f32", turns_cosine, 0, std::exp2(-20.5), angles()}};
  if (g != kGfx8) {
    const Real finite = [](double x) { return largest_for_infinity(1 / x); };
    const Real none = [](double x) { return x == 0 ? x : 1 / x; };
    const Real finite_root = [](double x) { return largest_for_infinity(1 / std::sqrt(x)); };
    const Real finite_below = [](double x) {
      return x == 0 ? largest_for_infinity(-INFINITY) : std::log2(x);
    };
    all.push_back({"v_rcp_clamp_f32", finite, ulp, 0, {}});
    all.push_back({"v_rcp_legacy_f32", none, ulp, 0, {}});
    all.push_back({"v_rsq_clamp_f32", finite_root, root, 0, {}});
    all.push_back({"v_log_clamp_f32", finite_below, std::exp2(-22), std::exp2(-22), {}});
  }
  if (g != kGfx6) {
    all.push_back({"v_log_legacy_f32", logarithm, std::exp2(-22), std::exp2(-22), {}});
    all.push_back({"v_exp_legacy_f32", power, 2 * ulp, 0, exponents()});
  }
  for (const Approximate& a : all) approximate(g, a, out);
}

bool is_nan(uint32_t x) {
  return (x & 0x7fffffff) > 0x7f800000;
}
bool is_signalling(uint32_t x) {
  return is_nan(x) && (x >> 22 & 1) == 0;
}
bool below(uint32_t a, uint32_t b) {
  if (a >> 31 != b >> 31) return a >> 31 != 0;
  return a >> 31 != 0 ? a > b : a < b;
}
uint32_t extreme(Mode mode, uint32_t a, uint32_t b, bool least) {
  if (mode.ieee && (is_signalling(a) || is_signalling(b))) return kNaN32;
  if (is_nan(a) && is_nan(b)) return kNaN32;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return below(a, b) == least ? a : b;
}
uint32_t median(Mode mode, uint32_t a, uint32_t b, uint32_t c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return extreme(mode, extreme(mode, a, b, true), c, true);
  const float top = f32_of(extreme(mode, extreme(mode, a, b, false), c, false));
  if (top == f32_of(a)) return extreme(mode, b, c, false);
  if (top == f32_of(b)) return extreme(mode, a, c, false);
  return extreme(mode, a, b, false);
}

Operation real(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::real, std::vector<Pool>(sources, f32()), std::move(f)};
}
Operation integer(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::integer, std::vector<Pool>(sources, u32()), std::move(f)};
}

/// Zero times anything is +0; no subnormals.
float legacy_product(float x, float y) {
  const volatile float a = flushed(x), b = flushed(y);
  if (a == 0 || b == 0) return 0;
  return flushed_result([&](float k) { return k * a * b; }, true);
}
float flushing_sum(float x, float y) {
  const volatile float a = flushed(x), b = flushed(y);
  const volatile float r = a + b;
  return flushed(r);
}
float flushing_product(float x, float y) {
  const volatile float a = flushed(x), b = flushed(y);
  return flushed_result([&](float k) { return k * a * b; }, true);
}

void legacy(Generation g, Mode mode, std::vector<Case>& out) {
  const auto product = [mode](uint32_t a, uint32_t b) {
    const Rounding direction(mode.direction());
    return bits(legacy_product(f32_of(a), f32_of(b)));
  };
  const auto sum = [mode, product](auto a, auto b, auto c) {
    const Rounding direction(mode.direction());
    return bits(flushing_sum(f32_of(product(a, b)), f32_of(c)));
  };
  short_and_long(
      g, real("v_mul_legacy_f32", 2, [product](auto a, auto b, auto) { return product(a, b); }),
      out);
  long_only(g, real("v_mad_legacy_f32", 3, sum), out);
  if (g == kGfx8) return;
  Operation mac = real("v_mac_legacy_f32", 2, sum);
  mac.adds_to_result = true;
  short_and_long(g, mac, out);
  short_and_long(g,
                 real("v_min_legacy_f32", 2,
                      [](auto a, auto b, auto) { return f32_of(a) < f32_of(b) ? a : b; }),
                 out);
  short_and_long(g,
                 real("v_max_legacy_f32", 2,
                      [](auto a, auto b, auto) { return f32_of(a) >= f32_of(b) ? a : b; }),
                 out);
}

/// v_madmk multiplies by 32 bits of the instruction, v_madak adds them.
void constants(Mode mode, std::vector<Case>& out) {
  const uint32_t k = 0xbfb504f3;
  const auto mad = [mode](uint32_t a, uint32_t b, uint32_t c) {
    const Rounding direction(mode.direction());
    return bits(flushing_sum(flushing_product(f32_of(a), f32_of(b)), f32_of(c)));
  };
  const auto make = [](std::string text, std::function<uint32_t(const Lane&)> f) {
    Step s{std::move(text), nullptr};
    s.rule = [f](const Lane& l, Out o) { o[0] = f(l); };
    return s;
  };
  const Tuples inputs = with_flags({f32(), f32()});
  out.push_back(vector_case("v_madmk_f32", inputs,
                            {make("v_madmk_f32 {d}, v10, 0xbfb504f3, v11",
                                  [=](const Lane& l) { return mad(l[0], k, l[1]); }),
                             make("v_madmk_f32 {d}, -0.5, 0xbfb504f3, v11",
                                  [=](const Lane& l) { return mad(0xbf000000, k, l[1]); })}));
  out.push_back(vector_case("v_madak_f32", inputs,
                            {make("v_madak_f32 {d}, v10, v11, 0xbfb504f3",
                                  [=](const Lane& l) { return mad(l[0], l[1], k); }),
                             make("v_madak_f32 {d}, 4.0, v11, 0xbfb504f3",
                                  [=](const Lane& l) { return mad(0x40800000, l[1], k); })}));
}

uint32_t ldexp_bits(uint32_t x, uint32_t n, Mode mode) {
  const float a = flushed(f32_of(x), mode.flush);
  const auto by = std::clamp(static_cast<int32_t>(n), -400, 400);
  const volatile double wide = std::ldexp(static_cast<double>(a), by / 2);
  const volatile double all = std::ldexp(wide, by - by / 2);
  const Rounding direction(mode.direction());
  const volatile float r = static_cast<float>(all);
  return bits(flushed(r, mode.flush));
}

void scales(Generation g, Mode mode, std::vector<Case>& out) {
  const Tuples inputs = with_flags({f32(), shifts().with({0xffffff00, 0xffffff82, 0xffffff6a, 149,
                                                          300, 0x7fffffff, 0x80000000})});
  const auto make = [mode](std::string text, std::function<uint32_t(const Lane&)> x,
                           std::function<uint32_t(const Lane&)> n) {
    Step s{std::move(text), nullptr};
    s.rule = [=](const Lane& l, Out o) { o[0] = ldexp_bits(x(l), n(l), mode); };
    return s;
  };
  const auto x = [](const Lane& l) { return l[0]; };
  const auto n = [](const Lane& l) { return l[1]; };
  const auto minus = [](const Lane& l) { return l[0] ^ 0x80000000; };
  const auto few = [](const Lane&) { return 0xfffffff0; };
  const std::string name = "v_ldexp_f32";
  std::vector<Step> full = {make(name + "_e64 {d}, v10, v11", x, n),
                            make(name + "_e64 {d}, -v10, v11", minus, n),
                            make(name + "_e64 {d}, v10, -16", x, few)};
  if (g == kGfx8) {
    for (Step& s : full) s.text.replace(s.text.find("_e64"), 4, "");
    out.push_back(vector_case(name, inputs, full));
    return;
  }
  out.push_back(vector_case(name + "_e64", inputs, full));
  out.push_back(vector_case(name, inputs, {make(name + "_e32 {d}, v10, v11", x, n)}));
}

uint32_t fraction(uint32_t x, Mode mode) {
  const volatile float a = flushed(f32_of(x), mode.flush);
  const Rounding direction(mode.direction());
  const volatile float whole = std::floor(a);
  const volatile float r = a - whole;
  return bits(r >= 1 ? 0x1.fffffep-1F : flushed(r, mode.flush));
}

std::vector<Operation> parts(Mode mode) {
  std::vector<Operation> ops = {
      real("v_fract_f32", 1, [mode](auto a, auto, auto) { return fraction(a, mode); }),
      real("v_frexp_mant_f32", 1, [mode](auto a, auto, auto) {
        int e = 0;
        const float x = flushed(f32_of(a), mode.flush);
        return bits(std::isfinite(x) ? std::frexp(x, &e) : x);
      })};
  Operation exponent = real("v_frexp_exp_i32_f32", 1, [mode](auto a, auto, auto) {
    int e = 0;
    const float x = flushed(f32_of(a), mode.flush);
    if (std::isfinite(x)) std::frexp(x, &e);
    return static_cast<uint32_t>(e);
  });
  exponent.clamps = false;
  ops.push_back(exponent);
  return ops;
}

uint32_t to_integer(double x) {
  if (std::isnan(x)) return 0;
  return static_cast<uint32_t>(static_cast<int64_t>(std::clamp(x, -2147483648.0, 2147483647.0)));
}

std::vector<Operation> conversions(Mode mode) {
  std::vector<Operation> ops;
  static constexpr const char* kBytes[] = {"v_cvt_f32_ubyte0", "v_cvt_f32_ubyte1",
                                           "v_cvt_f32_ubyte2", "v_cvt_f32_ubyte3"};
  for (unsigned n = 0; n < 4; ++n)
    ops.push_back(integer(kBytes[n], 1, [n](auto a, auto, auto) {
      return raw(static_cast<float>(a >> (8 * n) & 255));
    }));
  ops.push_back(integer("v_cvt_off_f32_i4", 1, [](auto a, auto, auto) {
    const int nibble = static_cast<int>(a & 15);
    return raw(static_cast<float>(nibble >= 8 ? nibble - 16 : nibble) / 16.0F);
  }));
  ops.push_back(real("v_cvt_rpi_i32_f32", 1, [](auto a, auto, auto) {
    return to_integer(std::floor(static_cast<double>(f32_of(a)) + 0.5));
  }));
  ops.push_back(real("v_cvt_flr_i32_f32", 1, [mode](auto a, auto, auto) {
    return to_integer(std::floor(static_cast<double>(flushed(f32_of(a), mode.flush))));
  }));
  ops.push_back(real("v_cvt_f16_f32", 1, [mode](auto a, auto, auto) {
    const Rounding direction(mode.direction());
    return f16_bits(flushed(f32_of(a), mode.flush));
  }));
  Operation widen = integer("v_cvt_f32_f16", 1, [](auto a, auto, auto) {
    return bits(static_cast<float>(f16_to_double(a & 0xffff)));
  });
  widen.pools = {f16().with({0xabcd3c00, 0x12347e01})};
  ops.push_back(widen);
  for (Operation& op : ops) op.clamps = false;
  return ops;
}

}  // namespace

void cases(Generation g, Mode mode, std::vector<Case>& out) {
  if (mode.flush && mode.rounding == 0) approximate_ones(g, out);
  legacy(g, mode, out);
  constants(mode, out);
  scales(g, mode, out);
  for (const Operation& op : parts(mode)) short_and_long(g, op, out);
  for (const Operation& op : conversions(mode)) short_and_long(g, op, out);
  packing::cases(g, mode, out);
  long_only(g,
            real("v_min3_f32", 3,
                 [mode](auto a, auto b, auto c) {
                   return extreme(mode, extreme(mode, a, b, true), c, true);
                 }),
            out);
  long_only(g,
            real("v_max3_f32", 3,
                 [mode](auto a, auto b, auto c) {
                   return extreme(mode, extreme(mode, a, b, false), c, false);
                 }),
            out);
  long_only(g,
            real("v_med3_f32", 3, [mode](auto a, auto b, auto c) { return median(mode, a, b, c); }),
            out);
}

}  // namespace values::gcn::functions
