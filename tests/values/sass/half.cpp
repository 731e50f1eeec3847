// Half precision: random choices of halves, signs, formats and modifiers for each row, computed
// anew from exact doubles.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>

#include "tests/values/sass/sass.hpp"

namespace values::sass::half {

namespace {

/// One operand as an instruction writes it: its signs, and which halves it gives.
struct Chosen {
  enum Halves : unsigned { both, low, high };
  bool negative = false, absolute = false;
  Halves halves = both;

  std::string around(const std::string& reg) const {
    static constexpr const char* kNames[] = {"", ".H0_H0", ".H1_H1"};
    const std::string x = reg + kNames[halves];
    return std::string(negative ? "-" : "") + (absolute ? "|" + x + "|" : x);
  }
  /// The bits that half `n` of the result is computed from.
  uint32_t operator()(uint32_t word, unsigned n) const {
    const bool upper = halves == both ? n == 1 : halves == high;
    uint32_t h = upper ? word >> 16 : word & 0xffff;
    if (absolute) h &= 0x7fff;
    return negative ? h ^ 0x8000 : h;
  }
};

uint32_t flushed_half(uint32_t h, bool ftz) {
  return ftz && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}
double value(uint32_t h, bool ftz) {
  return f16_to_double(flushed_half(h, ftz));
}

/// x * y + z with the last bit set where more was lost: rounds once to anything narrower.
double fused(double x, double y, double z) {
  const volatile double product = x * y, sum = product + z;
  if (!std::isfinite(sum)) return sum;
  const volatile double part = sum - product, lost = (product - (sum - part)) + (z - part);
  const uint64_t u = raw(double{sum});
  if (lost == 0 || (u & 1) != 0) return sum;
  return f64_of((lost > 0) == (sum > 0) ? u + 1 : u - 1);
}

/// The result of one half, or of the whole register as a single.
struct Result {
  bool single = false, ftz = false, sat = false;
  uint32_t operator()(double exact) const {
    if (single) {
      const auto x = static_cast<float>(exact);
      return bits(sat ? saturated(x) : x);
    }
    const uint32_t h = half_result(exact, ftz);
    return sat ? f16_bits(saturated(f16_to_double(h))) : h;
  }
};

constexpr const char* kFormats[] = {"", ".F32", ".MRG_H0", ".MRG_H1"};

/// Both halves of a result, put where the format says.
template <typename F>
uint32_t formatted(unsigned format, uint32_t before, F half) {
  switch (format) {
    case 0:
      return half(0) | half(1) << 16;
    case 1:
      return half(0);
    case 2:
      return half(0) | (before & 0xffff0000);
    default:
      return (before & 0xffff) | half(1) << 16;
  }
}

/// A second operand that is a pair of numbers, those with ten bits where `top`.
struct Numbers {
  uint32_t upper, lower;
  std::string text() const { return fmt::format("{:#x}, {:#x}", upper, lower); }
  uint32_t word() const { return upper << 16 | lower; }
};

class Generator {
 public:
  std::vector<Case> out;

  void sums() {
    for (unsigned n = 0; n < 64; ++n) {
      const Mods m = mods(n);
      const Chosen a = chosen(true), b = chosen(true);
      add(m, "HADD2", a.around("R8") + ", " + b.around("R9"), 2, [=](In in, unsigned h, bool ftz) {
        return value(a(in[0], h), ftz) + value(b(in[1], h), ftz);
      });
      const Numbers k = numbers(true);
      add(m, "HADD2", a.around("R8") + ", " + k.text(), 1, [=](In in, unsigned h, bool ftz) {
        return value(a(in[0], h), ftz) + value(Chosen()(k.word(), h), ftz);
      });
      const Chosen plain = without_absolute(a);
      const Numbers whole = numbers(false);
      add({0, m.ftz, m.sat}, "HADD2_32I", plain.around("R8") + ", " + whole.text(), 1,
          [=](In in, unsigned h, bool ftz) {
            return value(plain(in[0], h), ftz) + value(Chosen()(whole.word(), h), ftz);
          });
    }
  }

  void products() {
    for (unsigned n = 0; n < 64; ++n) {
      const Mods m = mods(n);
      const Chosen a = without_sign(chosen(true)), b = chosen(true), signed_a = chosen(true);
      add(m, "HMUL2", a.around("R8") + ", " + b.around("R9"), 2, [=](In in, unsigned h, bool ftz) {
        return value(a(in[0], h), ftz) * value(b(in[1], h), ftz);
      });
      const Numbers k = numbers(true);
      add(m, "HMUL2", signed_a.around("R8") + ", " + k.text(), 1, [=](In in, unsigned h, bool ftz) {
        return value(signed_a(in[0], h), ftz) * value(Chosen()(k.word(), h), ftz);
      });
      const Chosen plain = without_absolute(a);
      const Numbers whole = numbers(false);
      add({0, m.ftz, m.sat}, "HMUL2_32I", plain.around("R8") + ", " + whole.text(), 1,
          [=](In in, unsigned h, bool ftz) {
            return value(plain(in[0], h), ftz) * value(Chosen()(whole.word(), h), ftz);
          });
    }
  }

  void fused_products() {
    for (unsigned n = 0; n < 64; ++n) {
      const Mods m = mods(n);
      const Chosen a = without_sign(without_absolute(chosen(false))), b = chosen(false),
                   c = chosen(false);
      add(m, "HFMA2", a.around("R8") + ", " + b.around("R9") + ", " + c.around("R10"), 3,
          [=](In in, unsigned h, bool ftz) {
            return fused(value(a(in[0], h), ftz), value(b(in[1], h), ftz), value(c(in[2], h), ftz));
          });
      const Numbers k = numbers(true);
      add(m, "HFMA2", a.around("R8") + ", " + k.text() + ", " + c.around("R9"), 2,
          [=](In in, unsigned h, bool ftz) {
            return fused(value(a(in[0], h), ftz), value(Chosen()(k.word(), h), ftz),
                         value(c(in[1], h), ftz));
          });
      // The third operand is the destination, which holds the last input.
      const Numbers whole = numbers(false);
      const Chosen same{c.negative, false, Chosen::both};
      add({0, m.ftz, false}, "HFMA2_32I",
          a.around("R8") + ", " + whole.text() + ", " + same.around("R0"), 1,
          [=](In in, unsigned h, bool ftz) {
            return fused(value(a(in[0], h), ftz), value(Chosen()(whole.word(), h), ftz),
                         value(same(in[1], h), ftz));
          });
    }
  }

  void compares() {
    for (unsigned n = 0; n < 96; ++n) {
      const unsigned code = n % 16, op = n / 16 % 3;
      const bool ftz = random() % 2 != 0, not_third = random() % 2 != 0, with = n % 2 != 0;
      const Chosen a = chosen(true), b = chosen(true);
      const Numbers k = numbers(true);
      for (const bool number : {false, true}) {
        const auto test = [=](In in, unsigned h) {
          const double y = number ? value(Chosen()(k.word(), h), ftz) : value(b(in[1], h), ftz);
          return compared(code, value(a(in[0], h), ftz), y);
        };
        const auto third = [=](In in) { return (in[2] != 0) != not_third; };
        const std::string sources = a.around("R8") + ", " + (number ? k.text() : b.around("R9")) +
                                    (not_third ? ", !P3" : ", P3");
        const std::string before = "ISETP.NE.AND P3, PT, R10, RZ, PT ;\n";
        const std::string names =
            fmt::format(".{}{}.{} ", kConditions[code], ftz ? ".FTZ" : "", kOperators[op]);
        const Tuples t = tuples({pairs(), pairs(), flags()}, 200, random());
        out.push_back(make({before, (with ? "HSET2.BF" : "HSET2") + names + "R0, " + sources, ""},
                           3, 1, t, [=](In in, Out o) {
                             const uint32_t truth = with ? 0x3c00 : 0xffff;
                             o[0] = (combined(op, test(in, 0), third(in)) ? truth : 0) |
                                    (combined(op, test(in, 1), third(in)) ? truth << 16 : 0);
                           }));
        out.back().on_devices = n < 16;
        const std::string joined =
            fmt::format(".{}{}{}.{} ", kConditions[code], with ? ".H_AND" : "", ftz ? ".FTZ" : "",
                        kOperators[op]);
        out.push_back(make({before + "PSETP.AND.AND P2, PT, !PT, PT, PT ;\n",
                            "HSETP2" + joined + "P1, " + (with ? "PT, " : "P2, ") + sources,
                            "SEL R0, RZ, 0x1, !P1 ;\nSEL R1, RZ, 0x1, !P2 ;\n"},
                           3, 2, t, [=](In in, Out o) {
                             const bool x = test(in, 0), y = test(in, 1);
                             o[0] = combined(op, with ? x && y : x, third(in)) ? 1 : 0;
                             o[1] = !with && combined(op, y, third(in)) ? 1 : 0;
                           }));
        out.back().on_devices = n < 16;
      }
    }
  }

 private:
  struct Mods {
    unsigned format;
    bool ftz, sat;
  };
  /// Every format with and without .SAT; .FTZ of a single is refused.
  static Mods mods(unsigned n) { return {n % 4, n % 4 != 1 && n / 8 % 2 != 0, n / 4 % 2 != 0}; }

  Chosen chosen(bool absolute) {
    const uint64_t u = random();
    return {(u & 1) != 0, absolute && (u & 6) == 0,
            static_cast<Chosen::Halves>(u >> 8 & 3 ? (u >> 8 & 3) - 1 : 0)};
  }
  static Chosen without_absolute(Chosen c) {
    c.absolute = false;
    return c;
  }
  static Chosen without_sign(Chosen c) {
    c.negative = false;
    return c;
  }
  /// Of ten bits each where `top`, the edges among them.
  Numbers numbers(bool top) {
    const std::vector<uint64_t> edges = f16(8).values;
    const auto one = [&] {
      const uint64_t u = random();
      const uint32_t h = u % 3 == 0 ? static_cast<uint32_t>(u >> 8) & 0xffff
                                    : static_cast<uint32_t>(edges[u / 3 % edges.size()]);
      return top ? h & 0xffc0 : h;
    };
    const uint32_t upper = one();
    return {upper, one()};
  }

  /// Two halves in a word: each edge in each place, beside random ones. Close numbers and equal
  /// ones come often, so that sums cancel and compares are equal.
  Pool pairs() {
    const std::vector<uint64_t> edges = f16(16).values;
    Pool p{1, {}};
    for (size_t n = 0; n < edges.size(); ++n)
      p.values.push_back(edges[n] | edges[random() % edges.size()] << 16);
    for (unsigned n = 0; n < 16; ++n) {
      const uint64_t u = random();
      p.values.push_back(u & 0xffffffff);
      p.values.push_back((u >> 32 & 0x03ff03ff) | 0x3c003c00);
    }
    return p;
  }

  template <typename F>
  void add(const Mods& m, const std::string& name, const std::string& sources, unsigned inputs,
           F exact) {
    const Result round{m.format == 1, m.ftz, m.sat};
    std::vector<Pool> pools(inputs + 1, pairs());
    const std::string text = fmt::format("{}{}{}{} R0, {}", name, kFormats[m.format],
                                         m.ftz ? ".FTZ" : "", m.sat ? ".SAT" : "", sources);
    out.push_back(make({fmt::format("MOV R0, R{} ;\n", 8 + inputs), text, ""}, inputs + 1, 1,
                       tuples(pools, 160, random()), [=](In in, Out o) {
                         o[0] = formatted(m.format, in[inputs],
                                          [&](unsigned h) { return round(exact(in, h, m.ftz)); });
                       }));
    out.back().on_devices = out.size() % 8 == 0;
  }

  static bool compared(unsigned code, double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return (code & 8) != 0;
    const unsigned wanted = code == 8 ? 0 : code & 7;  // less 1, equal 2, greater 4
    return (wanted & (x < y ? 1U : x == y ? 2U : 4U)) != 0;
  }
  static bool combined(unsigned op, bool x, bool y) {
    return op == 0 ? x && y : op == 1 ? x || y : x != y;
  }
  static constexpr std::array kConditions = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                             "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};
  static constexpr std::array kOperators = {"AND", "OR", "XOR"};

  Random random{16};
};

}  // namespace

std::vector<Case> cases() {
  Generator g;
  g.sums();
  g.products();
  g.fused_products();
  g.compares();
  return std::move(g.out);
}

TEST_CASE("values: half precision") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::half
