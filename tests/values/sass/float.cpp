// Single-precision arithmetic, compares and selections.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::singles {

namespace {

struct Direction {
  const char* text;
  int mode;
};
constexpr Direction kDirections[] = {
    {"", FE_TONEAREST}, {".RM", FE_DOWNWARD}, {".RP", FE_UPWARD}, {".RZ", FE_TOWARDZERO}};

/// |x| and -x are done to the bits, before anything else looks at them.
struct Sign {
  bool negative = false, absolute = false;
  std::string around(const std::string& x) const {
    return std::string(negative ? "-" : "") + (absolute ? "|" + x + "|" : x);
  }
  float operator()(uint32_t u) const {
    if (absolute) u &= 0x7fffffff;
    return f32_of(negative ? u ^ 0x80000000 : u);
  }
};
constexpr Sign kSigns[] = {{}, {true, false}, {false, true}, {true, true}};

/// Rounded once in a direction, with operands and result flushed and the result clamped.
template <typename F>
uint32_t computed(F f, int direction, bool ftz, bool sat) {
  const Rounding r(direction);
  const float x = flushed_result(f, ftz);
  return bits(sat ? saturated(x) : x);
}

class Builder {
 public:
  std::vector<Case> out;
  void all(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle, bool on_devices = true) {
    const size_t first = out.size();
    add_variants(out, line, 1, inputs, outputs, t, oracle, floats());
    for (size_t n = first; n < out.size() && !on_devices; ++n) out[n].on_devices = false;
  }
  void one(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle, bool on_devices = true) {
    out.push_back(make(line, inputs, outputs, t, oracle));
    out.back().on_devices = on_devices;
  }
};

void sums(Builder& b) {
  const Tuples two = tuples({f32(), f32()});
  for (const Direction d : kDirections)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        // Signs go along with the other choices.
        const Sign sa = kSigns[(ftz ? 1 : 0) + (sat ? 2 : 0)],
                   sb = kSigns[(ftz ? 2 : 0) + (sat ? 1 : 0)];
        const bool plain = d.mode == FE_TONEAREST || (!ftz && !sat);  // drivers compile these
        const Oracle sum = [=](In in, Out o) {
          const volatile float x = flushed(sa(in[0]), ftz), y = flushed(sb(in[1]), ftz);
          o[0] = computed([&](float k) { return k * x + k * y; }, d.mode, ftz, sat);
        };
        const auto name = [&](const char* op) {
          return fmt::format("{}{}{}{}", op, ftz ? ".FTZ" : "", d.text, sat ? ".SAT" : "");
        };
        b.all(
            {"", fmt::format("{} R0, {}, {}", name("FADD"), sa.around("R8"), sb.around("{b}")), ""},
            2, 1, two, sum, plain);
        const Sign minus{sa.negative, false};
        const Oracle product = [=](In in, Out o) {
          const volatile float x = flushed(f32_of(in[0]), ftz), y = flushed(minus(in[1]), ftz);
          o[0] = computed([&](float k) { return k * x * y; }, d.mode, ftz, sat);
        };
        b.all({"", fmt::format("{} R0, R8, {}", name("FMUL"), minus.around("{b}")), ""}, 2, 1, two,
              product, plain);
      }
  for (const uint32_t k : {0x40490fdbU, 0xff800000U, 0x00000001U})
    for (const bool ftz : {false, true}) {
      const Tuples numbers = tuples({f32()});
      const std::string f = ftz ? ".FTZ" : "", imm = fmt::format("{:#x}", k);
      b.one({"", "FADD32I" + f + " R0, R8, " + imm, ""}, 1, 1, numbers, [=](In in, Out o) {
        o[0] = bits(flushed(flushed(f32_of(in[0]), ftz) + flushed(f32_of(k), ftz), ftz));
      });
      b.one({"", "FADD32I" + f + " R0, -|R8|, " + imm + ".NEG", ""}, 1, 1, numbers,
            [=](In in, Out o) {
              const float x = -std::fabs(f32_of(in[0])), y = -f32_of(k);
              o[0] = bits(flushed(flushed(x, ftz) + flushed(y, ftz), ftz));
            });
      b.one({"", "FADD32I" + f + " R0, |R8|, " + imm + ".ABS", ""}, 1, 1, numbers,
            [=](In in, Out o) {
              const float x = std::fabs(f32_of(in[0])), y = std::fabs(f32_of(k));
              o[0] = bits(flushed(flushed(x, ftz) + flushed(y, ftz), ftz));
            });
      for (const bool sat : {false, true})
        b.one({"", "FMUL32I" + f + (sat ? ".SAT" : "") + " R0, R8, " + imm, ""}, 1, 1, numbers,
              [=](In in, Out o) {
                const float x = flushed(f32_of(in[0]), ftz), y = flushed(f32_of(k), ftz);
                o[0] = computed([&](float s) { return s * x * y; }, FE_TONEAREST, ftz, sat);
              });
    }
}

void fused(Builder& b) {
  Tuples t = tuples({f32(), f32(), f32()}, 600);
  // Products whose lower half decides, with and without a sum that cancels the upper one.
  Random next(5);
  for (unsigned n = 0; n < 100; ++n) {
    const float x = 1 + static_cast<float>(next() % 0x800000) * 0x1p-23F;
    const float y = 1 + static_cast<float>(next() % 0x800000) * 0x1p-23F;
    t.push_back({raw(x), raw(y), raw(n % 2 != 0 ? -x * y : x * 0x1p-26F)});
  }
  for (const Direction d : kDirections)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if (sat && d.mode != FE_TONEAREST) continue;
        const bool nb = ftz, nc = d.mode == FE_DOWNWARD || sat;
        const auto oracle = [=](uint32_t ua, uint32_t ub, uint32_t uc) {
          const volatile float x = flushed(f32_of(ua), ftz),
                               y = flushed(f32_of(nb ? ub ^ 0x80000000 : ub), ftz),
                               z = flushed(f32_of(nc ? uc ^ 0x80000000 : uc), ftz);
          return computed([&](float k) { return std::fma(k * x, y, k * z); }, d.mode, ftz, sat);
        };
        const std::string name =
            fmt::format("FFMA{}{}{}", ftz ? ".FTZ" : "", d.text, sat ? ".SAT" : "");
        const std::string c = nc ? "-" : "", minus = nb ? "-" : "";
        b.all(
            {"", name + " R0, R8, " + minus + "{b}, " + c + "R10", ""}, 3, 1, t,
            [oracle](In in, Out o) { o[0] = oracle(in[0], in[1], in[2]); },
            d.mode == FE_TONEAREST || !ftz);
        for (unsigned n = 0; n < 2; ++n)
          b.one({"", name + " R0, R8, " + minus + "R9, " + c + constant(n), ""}, 2, 1,
                tuples({f32(), f32()}, 200),
                [=, k = constants()[n]](In in, Out o) { o[0] = oracle(in[0], in[1], k); });
      }
}

bool compared(unsigned code, float x, float y) {
  const bool unordered = std::isnan(x) || std::isnan(y), with_nan = (code & 8) != 0;
  if (unordered) return with_nan;
  const unsigned wanted = code == 8 ? 0 : code & 7;  // less 1, equal 2, greater 4
  return (wanted & (x < y ? 1U : x == y ? 2U : 4U)) != 0;
}
constexpr const char* kConditions[] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                       "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};

bool combined(const std::string& bop, bool x, bool y) {
  return bop == "AND" ? x && y : bop == "OR" ? x || y : x != y;
}

void tests(Builder& b) {
  const Tuples t = tuples({f32(2), f32(2), flags()}, 700);
  const char* const operators[] = {"AND", "OR", "XOR"};
  for (unsigned code = 0; code < 16; ++code)
    for (const bool ftz : {false, true}) {
      const std::string cond = kConditions[code], f = ftz ? ".FTZ" : "";
      const std::string bop = operators[(code + (ftz ? 1 : 0)) % 3];
      const Sign sa = kSigns[code % 4], sb = kSigns[(code / 4 + (ftz ? 1 : 0)) % 4];
      const auto test = [=](In in) {
        return compared(code, flushed(sa(in[0]), ftz), flushed(sb(in[1]), ftz));
      };
      const std::string predicate = "ISETP.NE.AND P3, PT, R10, RZ, PT ;\n";
      const std::string a = sa.around("R8"), operand = sb.around("{b}");
      b.all({predicate,
             fmt::format("FSETP.{}{}.{} P1, P2, {}, {}, {}P3", cond, f, bop, a, operand,
                         ftz ? "!" : ""),
             "SEL R0, RZ, 0x1, !P1 ;\nSEL R1, RZ, 0x1, !P2 ;\n"},
            3, 2, t, [=](In in, Out o) {
              const bool third = (in[2] != 0) != ftz;
              o[0] = combined(bop, test(in), third);
              o[1] = combined(bop, !test(in), third);
            });
      const bool as_float = code % 2 != 0;
      b.all(
          {predicate,
           fmt::format("FSET{}.{}{}.{} R0, {}, {}, !P3", as_float ? ".BF" : "", cond, f, bop, a,
                       operand),
           ""},
          3, 1, t,
          [=](In in, Out o) {
            const bool x = combined(bop, test(in), in[2] == 0);
            o[0] = !x ? 0 : as_float ? 0x3f800000 : 0xffffffff;
          },
          !ftz);
      const auto choose = [=](uint32_t c, In in) {
        return compared(code, flushed(f32_of(c), ftz), 0) ? in[0] : in[1];
      };
      b.all(
          {"", "FCMP." + cond + f + " R0, R8, {b}, R10", ""}, 3, 1,
          tuples({u32(), u32(), f32()}, 300), [=](In in, Out o) { o[0] = choose(in[2], in); },
          !ftz);
      for (unsigned n = 0; n < 4; ++n)
        b.one({"", "FCMP." + cond + f + " R0, R8, R9, " + constant(n), ""}, 2, 1,
              tuples({u32(), u32()}, 30),
              [=, k = constants()[n]](In in, Out o) { o[0] = choose(k, in); });
    }
}

/// A NaN loses; -0 is smaller than +0.
float smaller(float x, float y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

void extremes(Builder& b) {
  const Tuples t = tuples({f32(2), f32(2), flags()}, 3000);
  for (unsigned n = 0; n < 4; ++n)
    for (const bool ftz : {false, true}) {
      const Sign sa = kSigns[n], sb = kSigns[(n + (ftz ? 1 : 3)) % 4];
      const bool negated = n % 2 != 0;
      b.all({"ISETP.NE.AND P3, PT, R10, RZ, PT ;\n",
             fmt::format("FMNMX{} R0, {}, {}, {}P3", ftz ? ".FTZ" : "", sa.around("R8"),
                         sb.around("{b}"), negated ? "!" : ""),
             ""},
            3, 1, t, [=](In in, Out o) {
              const float x = flushed(sa(in[0]), ftz), y = flushed(sb(in[1]), ftz);
              o[0] = bits((in[2] != 0) != negated ? smaller(x, y) : -smaller(-x, -y));
            });
    }
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  sums(b);
  fused(b);
  tests(b);
  extremes(b);
  return std::move(b.out);
}

TEST_CASE("values: float arithmetic and compares") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::singles
