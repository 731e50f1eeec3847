// Special functions: bounds for the values, bits for what the unit does with subnormal numbers,
// and the sequences that the vendor's compiler puts around it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::mufu {

namespace {

using Function = double (*)(double);

/// The unit's own view of numbers: subnormal ones are zeros, of operands and of results.
Bound flushing(Function f, const char* text, double relative, double absolute) {
  return {text, [=](In in, In got) {
            const double exact = f(flushed(f32_of(in[0])));
            const float result = f32_of(got[0]);
            if (std::isnan(exact)) return got[0] == kNaN32;
            if (std::isinf(exact) || exact == 0) return got[0] == raw(static_cast<float>(exact));
            if (std::fabs(exact) > 0x1.fffffefp127) return std::isinf(result);
            if (std::fpclassify(result) == FP_SUBNORMAL) return false;
            if (result == 0) return std::fabs(exact) < 0x1.000001p-126;
            return std::fabs(result - exact) <= std::max(relative * std::fabs(exact), absolute);
          }};
}
/// What a program sees that computes with subnormal numbers.
Bound gradual(Function f, const char* text, double ulp) {
  return {text, [=](In in, In got) {
            const double exact = f(f32_of(in[0]));
            if (std::isnan(exact)) return std::isnan(f32_of(got[0]));
            return ulps(f32_of(got[0]), exact) <= ulp;
          }};
}

double reciprocal(double x) {
  return 1 / x;
}
double inverse_root(double x) {
  return 1 / std::sqrt(x);
}
double sine(double x) {
  return std::sin(x);
}
double cosine(double x) {
  return std::cos(x);
}
double power(double x) {
  return std::exp2(x);
}
double logarithm(double x) {
  return std::log2(x);
}
double root(double x) {
  return std::sqrt(x);
}

struct Special {
  const char* name;
  Function f;
  const char* bound;
  double relative, absolute;
};
const Special kSpecials[] = {
    {"COS", cosine, "2^-20.9 absolute", 0, 0x1p-20 * 0.536},
    {"SIN", sine, "2^-20.9 absolute", 0, 0x1p-20 * 0.536},
    {"EX2", power, "2^-22 relative", 0x1p-22, 0},
    {"LG2", logarithm, "2^-22 relative or 2^-22.6 absolute", 0x1p-22, 0x1p-23 * 1.3195},
    {"RCP", reciprocal, "1 ulp", 0x1p-23, 0},
    {"RSQ", inverse_root, "2^-22.9 relative", 0x1p-23 * 1.0718, 0},
    {"SQRT", root, "1 ulp", 0x1p-23, 0}};

Tuples arguments() {
  Tuples t = tuples({f32(200)});
  for (int n = -300; n <= 300; ++n) {
    t.push_back({raw(static_cast<float>(n) * 0.5F)});
    t.push_back({raw(std::ldexp(1.0F + static_cast<float>(n + 300) / 1024, n / 3))});
  }
  t.push_back({0x7e800000});  // 2^126: the last whose reciprocal is no subnormal number
  t.push_back({0x7e800001});
  return t;
}

Case bounded(const Line& line, const Tuples& t, Bound bound) {
  Case c = make(line, 1, 1, t, {});
  c.bound = std::move(bound);
  return c;
}

void values_of(std::vector<Case>& out) {
  const Tuples t = arguments();
  for (const Special& s : kSpecials) {
    const std::string name = std::string("MUFU.") + s.name;
    out.push_back(
        bounded({"", name + " R0, R8", ""}, t, flushing(s.f, s.bound, s.relative, s.absolute)));
    // -|x| is done to the bits; .SAT clamps the result.
    Tuples signs = tuples({f32()});
    Bound b = flushing(s.f, s.bound, s.relative, s.absolute);
    b.holds = [inner = b.holds](In in, In got) {
      const uint32_t x[] = {in[0] | 0x80000000};
      return inner(x, got);
    };
    out.push_back(bounded({"", name + " R0, -|R8|", ""}, signs, b));
    b.holds = [f = s.f](In in, In got) {
      const double exact = saturated(f(flushed(f32_of(in[0]))));
      const float result = f32_of(got[0]);
      return !std::signbit(result) && result <= 1 &&
             std::fabs(result - exact) <= 0x1p-20 * 0.536;  // the widest of the bounds
    };
    b.text = "2^-20.9 absolute, from 0 to 1";
    out.push_back(bounded({"", name + ".SAT R0, R8", ""}, t, b));
  }
}

/// Subnormal operands and results, bit for bit.
void flushed_numbers(std::vector<Case>& out) {
  const auto add = [&](const char* name, Words in, Words want) {
    Tuples t;
    for (uint32_t x : in) t.push_back({x});
    out.push_back(
        make({"", fmt::format("MUFU.{} R0, R8", name), ""}, 1, 1, t, [in, want](In i, Out o) {
          o[0] = want[static_cast<size_t>(std::find(in.begin(), in.end(), i[0]) - in.begin())];
        }));
  };
  const Words tiny = {0x007fffff, 0x807fffff, 0x00000001, 0x80000001, 0, 0x80000000};
  add("RCP", tiny, {0x7f800000, 0xff800000, 0x7f800000, 0xff800000, 0x7f800000, 0xff800000});
  add("RSQ", tiny, {0x7f800000, 0xff800000, 0x7f800000, 0xff800000, 0x7f800000, 0xff800000});
  add("LG2", tiny, Words(6, 0xff800000));
  add("EX2", tiny, Words(6, 0x3f800000));
  add("COS", tiny, Words(6, 0x3f800000));
  add("SIN", tiny, {0, 0x80000000, 0, 0x80000000, 0, 0x80000000});
  add("SQRT", tiny, {0, 0x80000000, 0, 0x80000000, 0, 0x80000000});
  add("RCP", {0x7e800000, 0x7e800001, 0xfe800001, 0x7f7fffff, 0x7f800000, 0xff800000},
      {0x00800000, 0, 0x80000000, 0, 0, 0x80000000});
  add("EX2", {0xc2fc0000, 0xc2fc0001, 0xc3160000, 0xff800000}, {0x00800000, 0, 0, 0});
}

/// The compiler's sequences; RRO prepares operands of SIN, COS and EX2 and means nothing alone.
void sequences(std::vector<Case>& out) {
  const Tuples t = arguments();
  const auto add = [&](const Line& line, const Bound& b) { out.push_back(bounded(line, t, b)); };
  const std::string tiny = "FSETP.GEU.AND P0, PT, |R8|, 0x00800000, PT ;\n",
                    scaled = tiny + "@!P0 FMUL R8, R8, 16777216 ;\n";
  add({"FSETP.GT.AND P1, PT, |R8|, 0x7e800000, PT ;\n" + tiny +
           "MOV32I R16, 0x4b800000 ;\nMOV32I R17, 0x3f800000 ;\nMOV32I R18, 0x3e800000 ;\n"
           "SEL R16, R16, R17, !P0 ;\nSEL R16, R16, R18, !P1 ;\nFMUL R17, R8, R16 ;\n",
       "MUFU.RCP R17, R17", "FMUL R0, R16, R17 ;\n"},
      gradual(reciprocal, "1 ulp of rcp.approx", 1));
  add({scaled, "MUFU.RSQ R0, R8", "@!P0 FMUL R0, R0, 4096 ;\n"},
      gradual(inverse_root, "2 ulp of rsqrt.approx", 2));
  add({scaled + "MUFU.RSQ R0, R8 ;\n", "MUFU.RCP R0, R0", "@!P0 FMUL R0, R0, 0x39800000 ;\n"},
      gradual(root, "2 ulp of sqrt.approx", 2));
  add({scaled, "MUFU.SQRT R0, R8", "@!P0 FMUL R0, R0, 0x39800000 ;\n"},
      gradual(root, "2 ulp of sqrt.approx", 2));
  add({scaled, "MUFU.LG2 R0, R8", "@!P0 FADD R0, R0, -24 ;\n"},
      {"2^-22 of lg2.approx", [](In in, In got) {
         const double exact = std::log2(static_cast<double>(f32_of(in[0])));
         const float result = f32_of(got[0]);
         if (std::isnan(exact)) return std::isnan(result);
         if (std::isinf(exact)) return static_cast<double>(result) == exact;
         return std::fabs(result - exact) <= 0x1p-22 * std::max(1.0, std::fabs(exact));
       }});
  const auto add_reduced = [&](const std::string& before, const std::string& rro,
                               const std::string& after, const Bound& b) {
    add({before, rro + " R16, R8", after}, b);
  };
  add_reduced("FSETP.GEU.AND P0, PT, R8, -126, PT ;\n@!P0 FMUL R8, R8, 0.5 ;\n", "RRO.EX2",
              "MUFU.EX2 R0, R16 ;\n@!P0 FMUL R0, R0, R0 ;\n",
              gradual(power, "4 ulp of ex2.approx", 4));
  const Special &cos = kSpecials[0], &sin = kSpecials[1];
  add_reduced("", "RRO.SINCOS", "MUFU.SIN R0, R16 ;\n",
              flushing(sin.f, sin.bound, 0, sin.absolute));
  add_reduced("", "RRO.SINCOS", "MUFU.COS R0, R16 ;\n",
              flushing(cos.f, cos.bound, 0, cos.absolute));
  for (unsigned n = 0; n < 3; ++n) {
    Tuples fixed = {{constants()[n]}};
    for (const char* operand : {"{}", "-{}", "|{}|"}) {
      Bound b = flushing(sin.f, sin.bound, 0, sin.absolute);
      b.holds = [inner = b.holds, kind = operand[0]](In in, In got) {
        const uint32_t x[] = {kind == '-'   ? in[0] ^ 0x80000000
                              : kind == '|' ? in[0] & 0x7fffffff
                                            : in[0]};
        return inner(x, got);
      };
      const auto rro = [&](const std::string& source) {
        return "RRO.SINCOS R16, " + fmt::format(fmt::runtime(operand), source);
      };
      out.push_back(bounded({"", rro(constant(n)), "MUFU.SIN R0, R16 ;\n"}, fixed, b));
      out.push_back(bounded({"", rro("R8"), "MUFU.SIN R0, R16 ;\n"}, tuples({f32()}), b));
      if (operand[0] == '{')
        out.push_back(bounded({"", rro("1.5"), "MUFU.SIN R0, R16 ;\n"}, {{raw(1.5F)}}, b));
    }
  }
}

/// Upper words of doubles.
void wide_inverses(std::vector<Case>& out) {
  Pool upper = u32(100);
  for (uint64_t x : f64().values) upper.values.push_back(x >> 32);
  for (const bool of_root : {false, true})
    for (const bool negative : {false, true}) {
      Bound b{"2^-20 relative", [=](In in, In got) {
                uint32_t x = in[0];
                if (negative) x |= 0x80000000;
                if ((x & 0x7ff00000) == 0) x &= 0x80000000;  // subnormal: a zero of its sign
                const double a = f64_of(wide(0, x)), exact = 1 / (of_root ? std::sqrt(a) : a);
                const double result = f64_of(wide(0, got[0]));
                if (std::isnan(exact)) return got[0] == kNaN64 >> 32;
                if (std::fabs(exact) < 0x1p-1022)
                  return got[0] == (std::signbit(exact) ? 1U << 31 : 0);
                if (std::isinf(exact)) return result == exact;
                return std::fabs(result / exact - 1) <= 0x1p-20;
              }};
      out.push_back(bounded(
          {"",
           fmt::format("MUFU.{} R0, {}", of_root ? "RSQ64H" : "RCP64H", negative ? "-|R8|" : "R8"),
           ""},
          tuples({upper}), b));
    }
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> out;
  values_of(out);
  flushed_numbers(out);
  sequences(out);
  wide_inverses(out);
  return out;
}

TEST_CASE("values: special functions") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::mufu
