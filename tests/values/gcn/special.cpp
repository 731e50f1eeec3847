// Instructions made for one algorithm: the faces of a cube, chunks of 2 / pi; functions and
// quotients of halves.
#include <fmt/format.h>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::special {

namespace {

/// Behind the binary point of 2 / pi, 16 digits a line: published digits (hexadecimal).
constexpr const char* kTwoByPi =
    "A2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA09D192"
    "1C"
    "FE1DEB1CB129A73EE88235F52EBB4484E99C7026B45F7E413991D639835339F49C845F8BBDF9283B1FF897FFDE0598"
    "0F"
    "EF2F118B5A0A6D1F6D367ECF27CB09B74F463F669E5FEA2D7527BAC7EBE5F17B3D0739F78A5292EA6BFB5FB11F8D5D"
    "0856033046FC7B";

unsigned bit_of_two_by_pi(unsigned n) {
  const std::string digits = kTwoByPi;
  if (n / 4 >= digits.size()) return 0;
  const char c = digits[n / 4];
  const unsigned digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'A' + 10);
  return digit >> (3 - n % 4) & 1;
}

/// Cut in every mode; subnormal ones are flushed as results are.
uint64_t chunk(Mode mode, uint64_t x, uint32_t n) {
  const auto exponent = static_cast<unsigned>(x >> 52 & 0x7ff);
  const unsigned first = (n & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  double v = 0;
  for (unsigned k = 0; k < 53; ++k) v = 2 * v + bit_of_two_by_pi(first + k);
  const int scale = -53 - static_cast<int>(first) + (exponent >= 1968 ? 128 : 0);
  const Rounding towards_zero(FE_TOWARDZERO);
  const double r = std::ldexp(v, scale);
  return std::fpclassify(r) == FP_SUBNORMAL && (mode.wide_subnormals & 2) == 0 ? 0 : raw(r);
}

void chunks(Mode mode, std::vector<Case>& out) {
  // The published digits above end before the table does: chunks that reach further are left out.
  Tuples inputs;
  // The 21st chunk (20) of ordinary numbers is subnormal.
  for (const Words& w :
       with_flags({f64(40), {1, {0, 1, 2, 3, 5, 9, 14, 19, 20, 32, 33, 52}}}, 3072)) {
    const auto exponent = w[1] >> 20 & 0x7ff;
    const unsigned first = (w[2] & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    if (first + 53 <= 1120) inputs.push_back(w);
  }
  Step by_register{"v_trig_preop_f64 {p}, v[10:11], v12", nullptr, 2};
  by_register.rule = [mode](const Lane& l, Out o) {
    const uint64_t r = chunk(mode, l.pair(0), l[2]);
    o[0] = static_cast<uint32_t>(r), o[1] = static_cast<uint32_t>(r >> 32);
  };
  Step by_number{"v_trig_preop_f64 {p}, -|v[10:11]|, 1", nullptr, 2};
  by_number.rule = [mode](const Lane& l, Out o) {
    const uint64_t r = chunk(mode, l.pair(0), 1);
    o[0] = static_cast<uint32_t>(r), o[1] = static_cast<uint32_t>(r >> 32);
  };
  std::erase_if(inputs, [](const Words& w) { return (w[1] >> 20 & 0x7ff) > 2000; });
  out.push_back(vector_case("v_trig_preop_f64", inputs, {by_register, by_number}));
  out.back().doubles = true;
}

void cubes(Generation g, Mode mode, std::vector<Case>& out) {
  Pool p{1, {}};
  for (const float x : {0.0F, 1.0F, -1.0F, 0.5F, -2.5F, 7.0F, -7.0F, 1e30F, 3.4e38F, 1e-30F})
    p.values.push_back(raw(x));
  for (const uint32_t u : {0x80000000U, 0x00000001U, 0x807fffffU, 0x7f7fffffU})
    p.values.push_back(u);
  const auto add = [&](const char* name, float (*f)(float x, float y, float z, int axis)) {
    Operation op{name, 3, Kind::real, {p, p, p}, nullptr};
    op.f = [f, mode](uint32_t a, uint32_t b, uint32_t c) {
      const auto number = [mode](uint32_t u) { return flushed(f32_of(u), mode.flush); };
      const float x = number(a), y = number(b), z = number(c);
      const Rounding direction(mode.direction());
      const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
      return bits(flushed(f(x, y, z, az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0), mode.flush));
    };
    long_only(g, op, out);
  };
  add("v_cubeid_f32", [](float x, float y, float z, int axis) -> float {
    const float major = axis == 0 ? x : axis == 1 ? y : z;
    return static_cast<float>(2 * axis) + (major < 0 ? 1.0F : 0.0F);
  });
  add("v_cubesc_f32", [](float x, float, float z, int axis) -> float {
    return axis == 2 ? (z < 0 ? -x : x) : axis == 1 ? x : x < 0 ? z : -z;
  });
  add("v_cubetc_f32",
      [](float, float y, float z, int axis) -> float { return axis == 1 ? (y < 0 ? -z : z) : -y; });
  add("v_cubema_f32", [](float x, float y, float z, int axis) -> float {
    const volatile float twice = 2 * (axis == 0 ? x : axis == 1 ? y : z);
    return twice;
  });
}

uint32_t cut(uint32_t h, bool keep) {
  return keep || (h & 0x7c00) != 0 ? h : h & 0x8000;
}
bool is_nan(uint32_t h) {
  return (h & 0x7fff) > 0x7c00;
}

Operation half(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::integer, std::vector<Pool>(sources, f16()), std::move(f)};
}

/// Rounded twice, without subnormals in any mode.
uint32_t multiply_add(Mode mode, uint32_t a, uint32_t b, uint32_t c) {
  const auto value = [](uint32_t h) { return f16_to_double(cut(h & 0xffff, false)); };
  const Rounding direction(mode.direction());
  const volatile double x = value(a), y = value(b), z = value(c);
  return half_result(f16_to_double(half_result(x * y, true)) + z, true);
}

void multiply_adds(Mode mode, std::vector<Case>& out) {
  const auto f = [mode](auto a, auto b, auto c) { return multiply_add(mode, a, b, c); };
  long_only(kGfx8, half("v_mad_f16", 3, f), out);
  Operation mac = half("v_mac_f16", 2, f);
  mac.adds_to_result = true;
  short_and_long(kGfx8, mac, out);
  const Tuples inputs = with_flags({f16(), f16()});
  Step factor{"v_madmk_f16 {d}, v10, 0x3a01, v11", nullptr},
      addend{"v_madak_f16 {d}, v10, v11, 0xb155", nullptr};
  factor.rule = [f](const Lane& l, Out o) { o[0] = f(l[0], 0x3a01U, l[1]); };
  addend.rule = [f](const Lane& l, Out o) { o[0] = f(l[0], l[1], 0xb155U); };
  out.push_back(vector_case("v_madmk_f16", inputs, {factor}));
  out.push_back(vector_case("v_madak_f16", inputs, {addend}));
}

void scaling(Mode mode, std::vector<Case>& out) {
  Operation ldexp = half("v_ldexp_f16", 2, [mode](auto a, auto b, auto) {
    const double x = f16_to_double(cut(a & 0xffff, (mode.wide_subnormals & 1) != 0));
    const Rounding direction(mode.direction());
    const int by = std::clamp<int>(static_cast<int16_t>(b), -200, 200);
    return cut(half_result(std::ldexp(x, by), mode.wide_subnormals == 0),
               (mode.wide_subnormals & 2) != 0);
  });
  ldexp.pools[1] =
      Pool{1, {0, 1, 5, 14, 15, 16, 24, 25, 40, 0x7fff, 0x8000, 0xffff, 0xfff0, 0xffe0, 0x10001}};
  short_and_long(kGfx8, ldexp, out);
}

/// S0 with the sign of a quotient, and what a quotient of such operands is where S0 is none.
/// Operands and result are flushed as the mode says.
void fixup(Mode mode, std::vector<Case>& out) {
  const auto operand = [mode](uint32_t x) {
    return cut(x & 0xffff, (mode.wide_subnormals & 1) != 0);
  };
  long_only(kGfx8,
            half("v_div_fixup_f16", 3,
                 [=](auto a, auto b, auto c) -> uint32_t {
                   const uint32_t q = operand(a), den = operand(b), num = operand(c);
                   const uint32_t sign = (den ^ num) & 0x8000;
                   const double d = f16_to_double(den), n = f16_to_double(num);
                   if (std::isnan(d) || std::isnan(n)) return kNaN16;
                   if ((d == 0 && n == 0) || (std::isinf(d) && std::isinf(n))) return kNaN16;
                   if (d == 0 || std::isinf(n)) return sign | 0x7c00;
                   if (std::isinf(d) || n == 0) return sign;
                   return cut(sign | (is_nan(q) ? 0x7c00 : q & 0x7fff),
                              (mode.wide_subnormals & 2) != 0);
                 }),
            out);
}

struct HalfFunction {
  const char* name;
  double (*f)(double);
};
constexpr HalfFunction kFunctions[] = {
    {"v_rcp_f16", [](double x) { return 1 / x; }},
    {"v_sqrt_f16", [](double x) { return std::sqrt(x); }},
    {"v_rsq_f16", [](double x) { return 1 / std::sqrt(x); }},
    {"v_log_f16", [](double x) { return std::log2(x); }},
    {"v_exp_f16", [](double x) { return std::exp2(x); }},
    {"v_sin_f16",
     [](double x) -> double {
       if (std::fabs(x) > 256) return std::isinf(x) ? NAN : 0;
       const double part = x - std::nearbyint(x);
       return part == 0 ? std::copysign(0.0, x) : std::sin(6.283185307179586 * part);
     }},
    {"v_cos_f16", [](double x) -> double {
       if (std::fabs(x) > 256) return std::isinf(x) ? NAN : 1;
       return std::cos(6.283185307179586 * (x - std::nearbyint(x)));
     }}};

/// One unit in the last place, and 2^-13 where that is more (sines near their zeros).
bool near_half(uint32_t got, uint32_t want) {
  if (got == want || (is_nan(got) && is_nan(want))) return true;
  if (is_nan(got) || is_nan(want)) return false;
  if (std::fabs(f16_to_double(got) - f16_to_double(want)) <= 0x1p-13) return true;
  return (got ^ want) < 0x8000 && std::max(got, want) - std::min(got, want) <= 1;
}

void functions(Mode mode, std::vector<Case>& out) {
  const Tuples inputs = with_flags({f16(200), f16()}, 1024);
  for (const HalfFunction& a : kFunctions) {
    const auto value = [=](uint32_t x) {
      const Rounding nearest(FE_TONEAREST);
      return cut(f16_bits(a.f(f16_to_double(cut(x & 0xffff, (mode.wide_subnormals & 1) != 0)))),
                 (mode.wide_subnormals & 2) != 0);
    };
    const auto add = [&](const std::string& row, const std::string& text, auto operand) {
      Step s{text, nullptr};
      s.rule = [=](const Lane& l, Out o) { o[0] = value(operand(l[0])); };
      Case c = vector_case(row, inputs, {s});
      c.bound = Bound{"1 ulp, or 2^-13", [value, operand](In in, In got) {
                        if ((in.back() & 1) == 0) return got[0] == ~in[0];
                        return near_half(got[0], value(operand(in[0])));
                      }};
      out.push_back(c);
    };
    const std::string name = a.name;
    const auto same = [](uint32_t x) { return x; };
    add(name, name + "_e32 {d}, v10", same);
    add(name + "_e64", name + "_e64 {d}, -|v10|", [](uint32_t x) { return x | 0x8000; });
    add(name + ".sdwa", name + "_sdwa {d}, v10 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0",
        same);
    add(name + ".dpp", name + "_dpp {d}, v10 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", same);
  }
}

}  // namespace

void cases(Generation g, Mode mode, std::vector<Case>& out) {
  chunks(mode, out);
  cubes(g, mode, out);
}

void half_cases(Mode mode, std::vector<Case>& out) {
  multiply_adds(mode, out);
  scaling(mode, out);
  fixup(mode, out);
  functions(mode, out);
}

}  // namespace values::gcn::special
