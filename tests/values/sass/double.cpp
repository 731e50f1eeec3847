// Double precision: arithmetic in every direction, compares, selections.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::doubles {

namespace {

struct Direction {
  const char* text;
  int mode;
};
constexpr Direction kDirections[] = {
    {"", FE_TONEAREST}, {".RM", FE_DOWNWARD}, {".RP", FE_UPWARD}, {".RZ", FE_TOWARDZERO}};

struct Sign {
  bool negative = false, absolute = false;
  std::string around(const std::string& x) const {
    return std::string(negative ? "-" : "") + (absolute ? "|" + x + "|" : x);
  }
  double operator()(double x) const {
    if (absolute) x = std::fabs(x);
    return negative ? -x : x;
  }
};
constexpr Sign kSigns[] = {{}, {true, false}, {false, true}, {true, true}};

double number(In in, unsigned n) {
  return f64_of(wide(in[2 * n], in[2 * n + 1]));
}
void put(double x, Out o) {
  const uint64_t u = bits(x);
  o[0] = static_cast<uint32_t>(u);
  o[1] = static_cast<uint32_t>(u >> 32);
}

class Builder {
 public:
  std::vector<Case> out;

  /// `form` with {b} as a register, a constant and numbers; operands are the pairs from R8 on.
  void all(const std::string& before, const std::string& form, const std::string& after,
           unsigned inputs, unsigned outputs, const Tuples& t, const Oracle& oracle,
           bool on_devices) {
    const auto with = [&](const std::string& b, std::optional<uint64_t> value, bool first) {
      Tuples fixed;
      for (Words w : t) {
        if (value) {
          w[2] = static_cast<uint32_t>(*value);
          w[3] = static_cast<uint32_t>(*value >> 32);
        }
        fixed.push_back(std::move(w));
        if (value && fixed.size() == 60) break;
      }
      std::string text = form;
      const size_t at = text.find("{b}");
      if (at != std::string::npos) text.replace(at, 3, b);
      if (b.find('.') != std::string::npos || b.ends_with("INF")) text = number_form(text, b);
      out.push_back(make({before, text, after}, inputs, outputs, fixed, oracle));
      out.back().doubles = true;
      out.back().on_devices = first && on_devices;
    };
    with("R10", std::nullopt, true);
    with(constant(0), wide(constants()[0], constants()[1]), false);
    with("1.5", 0x3ff8000000000000, false);
    with("-0.0", uint64_t{1} << 63, false);
    with("-INF", 0xfff0000000000000, false);
  }

 private:
  /// Numbers have their signs behind them.
  static std::string number_form(std::string text, const std::string& b) {
    std::string suffix;
    if (const size_t at = text.find("|" + b + "|"); at != std::string::npos) {
      text.replace(at, b.size() + 2, b);
      suffix = ".ABS";
    }
    if (const size_t at = text.find(" -" + b); at != std::string::npos && b[0] != '-') {
      text.erase(at + 1, 1);
      suffix = ".NEG" + suffix;
    } else if (const size_t twice = text.find(" --"); twice != std::string::npos) {
      text.erase(twice + 1, 1);
      suffix = ".NEG" + suffix;
    }
    return text.insert(text.find(b) + b.size(), suffix);
  }
};

void arithmetic(Builder& b) {
  const Tuples two = tuples({f64(), f64()}, 900), three = tuples({f64(), f64(), f64()}, 900);
  for (unsigned n = 0; n < 4; ++n) {
    const Direction d = kDirections[n];
    const bool nearest = d.mode == FE_TONEAREST;
    for (unsigned s = 0; s < 4; ++s) {
      const Sign sa = kSigns[(n + s) % 4], sb = kSigns[s];
      b.all(
          "", fmt::format("DADD{} R0, {}, {}", d.text, sa.around("R8"), sb.around("{b}")), "", 4, 2,
          two,
          [=](In in, Out o) {
            const Rounding r(d.mode);
            const volatile double x = sa(number(in, 0)), y = sb(number(in, 1));
            const volatile double sum = x + y;
            put(sum, o);
          },
          nearest && s == 0);
      if (sb.absolute) continue;
      b.all(
          "", fmt::format("DMUL{} R0, R8, {}", d.text, sb.around("{b}")), "", 4, 2, two,
          [=](In in, Out o) {
            const Rounding r(d.mode);
            const volatile double x = number(in, 0), y = sb(number(in, 1));
            const volatile double product = x * y;
            put(product, o);
          },
          nearest && s == 0);
      const Sign sc = kSigns[(n + s) % 2];
      const auto fused = [=](double x, double y, double z, Out o) {
        const Rounding r(d.mode);
        const volatile double vx = x, vy = sb(y), vz = sc(z);
        const volatile double result = std::fma(vx, vy, vz);
        put(result, o);
      };
      b.all(
          "", fmt::format("DFMA{} R0, R8, {}, {}", d.text, sb.around("{b}"), sc.around("R12")), "",
          6, 2, three, [=](In in, Out o) { fused(number(in, 0), number(in, 1), number(in, 2), o); },
          nearest && s == 0);
      b.out.push_back(make(
          {"",
           fmt::format("DFMA{} R0, R8, {}, {}", d.text, sb.around("R10"), sc.around(constant(0))),
           ""},
          4, 2, two, [=](In in, Out o) {
            fused(number(in, 0), number(in, 1), f64_of(wide(constants()[0], constants()[1])), o);
          }));
    }
  }
}

bool compared(unsigned code, double x, double y) {
  const bool unordered = std::isnan(x) || std::isnan(y), with_nan = (code & 8) != 0;
  if (unordered) return with_nan;
  const unsigned wanted = code == 8 ? 0 : code & 7;  // less 1, equal 2, greater 4
  return (wanted & (x < y ? 1U : x == y ? 2U : 4U)) != 0;
}
constexpr const char* kConditions[] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                       "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};
constexpr const char* kOperators[] = {"AND", "OR", "XOR"};

bool combined(unsigned op, bool x, bool y) {
  return op == 0 ? x && y : op == 1 ? x || y : x != y;
}

void compares(Builder& b) {
  const Tuples t = tuples({f64(2), f64(2), flags()}, 500);
  const std::string predicate = "ISETP.NE.AND P3, PT, R12, RZ, PT ;\n";
  for (unsigned code = 0; code < 16; ++code) {
    const unsigned op = code % 3;
    const Sign sa = kSigns[code % 4], sb = kSigns[code / 4];
    const auto test = [=](In in) { return compared(code, sa(number(in, 0)), sb(number(in, 1))); };
    b.all(
        predicate,
        fmt::format("DSETP.{}.{} P1, P2, {}, {}, {}P3", kConditions[code], kOperators[op],
                    sa.around("R8"), sb.around("{b}"), code % 2 != 0 ? "!" : ""),
        "SEL R0, RZ, 0x1, !P1 ;\nSEL R1, RZ, 0x1, !P2 ;\n", 5, 2, t,
        [=](In in, Out o) {
          const bool third = (in[4] != 0) != (code % 2 != 0);
          o[0] = combined(op, test(in), third);
          o[1] = combined(op, !test(in), third);
        },
        code % 5 == 1);
    const bool as_float = code % 2 != 0;
    b.all(
        predicate,
        fmt::format("DSET{}.{}.{} R0, {}, {}, !P3", as_float ? ".BF" : "", kConditions[code],
                    kOperators[op], sa.around("R8"), sb.around("{b}")),
        "", 5, 1, t,
        [=](In in, Out o) {
          const bool x = combined(op, test(in), in[4] == 0);
          o[0] = !x ? 0 : as_float ? 0x3f800000 : 0xffffffff;
        },
        code % 5 == 2);
  }
}

/// A NaN loses; -0 is smaller than +0.
double smaller(double x, double y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

void extremes(Builder& b) {
  const Tuples t = tuples({f64(2), f64(2), flags()}, 900);
  for (unsigned n = 0; n < 4; ++n) {
    const Sign sa = kSigns[n], sb = kSigns[(n + 2) % 4];
    const bool negated = n % 2 != 0;
    b.all(
        "ISETP.NE.AND P3, PT, R12, RZ, PT ;\n",
        fmt::format("DMNMX R0, {}, {}, {}P3", sa.around("R8"), sb.around("{b}"),
                    negated ? "!" : ""),
        "", 5, 2, t,
        [=](In in, Out o) {
          const double x = sa(number(in, 0)), y = sb(number(in, 1));
          put((in[4] != 0) != negated ? smaller(x, y) : -smaller(-x, -y), o);
        },
        n == 0);
  }
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  arithmetic(b);
  compares(b);
  extremes(b);
  return std::move(b.out);
}

TEST_CASE("values: double precision") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::doubles
