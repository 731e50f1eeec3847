// Predicates and flags as values of registers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::predicate {

namespace {

constexpr const char* kOperators[] = {"AND", "OR", "XOR"};

bool combined(unsigned op, bool x, bool y) {
  return op == 0 ? x && y : op == 1 ? x || y : x != y;
}

void truths(std::vector<Case>& out) {
  const Tuples t = tuples({flags(), flags(), flags()});
  const std::string before =
      "ISETP.NE.AND P1, PT, R8, RZ, PT ;\nISETP.NE.AND P2, PT, R9, RZ, PT ;\n"
      "ISETP.NE.AND P3, PT, R10, RZ, PT ;\n";
  for (unsigned x = 0; x < 3; ++x)
    for (unsigned y = 0; y < 3; ++y) {
      const bool as_float = (x + y) % 2 != 0;
      out.push_back(make(
          {before,
           fmt::format("PSET{}.{}.{} R0, {}P1, {}P2, {}P3", as_float ? ".BF" : "", kOperators[x],
                       kOperators[y], x == 1 ? "!" : "", y == 1 ? "!" : "", x == 2 ? "!" : ""),
           ""},
          3, 1, t, [=](In in, Out o) {
            const bool a = (in[0] != 0) != (x == 1), b = (in[1] != 0) != (y == 1),
                       c = (in[2] != 0) != (x == 2);
            const bool r = combined(y, combined(x, a, b), c);
            o[0] = !r ? 0 : as_float ? 0x3f800000 : 0xffffffff;
          }));
    }
  // Flags of a difference: signed and unsigned order.
  const struct {
    const char* test;
    bool (*holds)(uint32_t, uint32_t);
  } tests[] = {{"LT", [](uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b); }},
               {"EQ", [](uint32_t a, uint32_t b) { return a == b; }},
               {"LE", [](uint32_t a, uint32_t b) { return int32_t(a) <= int32_t(b); }},
               {"GT", [](uint32_t a, uint32_t b) { return int32_t(a) > int32_t(b); }},
               {"NE", [](uint32_t a, uint32_t b) { return a != b; }},
               {"GE", [](uint32_t a, uint32_t b) { return int32_t(a) >= int32_t(b); }},
               {"LO", [](uint32_t a, uint32_t b) { return a < b; }},
               {"LS", [](uint32_t a, uint32_t b) { return a <= b; }},
               {"HI", [](uint32_t a, uint32_t b) { return a > b; }},
               {"HS", [](uint32_t a, uint32_t b) { return a >= b; }},
               {"SFT", [](uint32_t a, uint32_t b) { return (a - b) >> 31 != 0; }},
               {"SFF", [](uint32_t a, uint32_t b) { return (a - b) >> 31 == 0; }},
               {"OFT",
                [](uint32_t a, uint32_t b) {
                  const int64_t d = int64_t{int32_t(a)} - int32_t(b);
                  return d != int32_t(d);
                }},
               {"OFF",
                [](uint32_t a, uint32_t b) {
                  const int64_t d = int64_t{int32_t(a)} - int32_t(b);
                  return d == int32_t(d);
                }},
               {"NUM", [](uint32_t, uint32_t) { return true; }},
               {"NAN", [](uint32_t, uint32_t) { return false; }},
               {"NEU", [](uint32_t a, uint32_t b) { return a != b; }},
               {"EQU", [](uint32_t a, uint32_t b) { return a == b; }},
               {"LTU", [](uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b); }},
               {"LEU", [](uint32_t a, uint32_t b) { return int32_t(a) <= int32_t(b); }},
               {"GTU", [](uint32_t a, uint32_t b) { return int32_t(a) > int32_t(b); }},
               {"GEU", [](uint32_t a, uint32_t b) { return int32_t(a) >= int32_t(b); }},
               {"RLE", [](uint32_t a, uint32_t b) { return int32_t(a - b) <= 0; }},
               {"RGT", [](uint32_t a, uint32_t b) { return int32_t(a - b) > 0; }},
               {"F", [](uint32_t, uint32_t) { return false; }},
               {"T", [](uint32_t, uint32_t) { return true; }}};
  unsigned n = 0;
  for (const auto& [test, holds] : tests) {
    const unsigned op = n % 3;
    const bool as_float = n++ % 2 != 0, negated = n % 4 == 1;
    out.push_back(make({"ISETP.NE.AND P3, PT, R10, RZ, PT ;\nIADD RZ.CC, R8, -R9 ;\n",
                        fmt::format("CSET{}.{}.{} R0, CC, {}P3", as_float ? ".BF" : "", test,
                                    kOperators[op], negated ? "!" : ""),
                        ""},
                       3, 1, tuples({u32(), u32(), flags()}, 300),
                       [=, holds = holds](In in, Out o) {
                         const bool r = combined(op, holds(in[0], in[1]), (in[2] != 0) != negated);
                         o[0] = !r ? 0 : as_float ? 0x3f800000 : 0xffffffff;
                       }));
  }
}

/// What compares leave in the flags: branches ask whether the result was zero.
void flags_of_compares(std::vector<Case>& out) {
  const std::string p3 = "ISETP.NE.AND P3, PT, R8, R9, PT ;\n";
  const struct {
    const char* text;
    bool (*holds)(In);
  } forms[] = {
      {"ISET.NE.AND RZ.CC, R8, R9, PT", [](In in) { return in[0] != in[1]; }},
      {"ISET.BF.LT.AND RZ.CC, R8, R9, PT", [](In in) { return int32_t(in[0]) < int32_t(in[1]); }},
      {"FSET.NEU.FTZ.AND RZ.CC, |R8|, R9, PT",
       [](In in) {
         const float x = flushed(std::fabs(f32_of(in[0]))), y = flushed(f32_of(in[1]));
         return !(x == y);
       }},
      {"FSET.BF.LT.AND RZ.CC, R8, R9, PT", [](In in) { return f32_of(in[0]) < f32_of(in[1]); }},
      {"PSET.AND.AND RZ.CC, P3, PT, PT", [](In in) { return in[0] != in[1]; }},
      {"PSET.BF.AND.AND RZ.CC, P3, PT, PT", [](In in) { return in[0] != in[1]; }}};
  for (const auto& f : forms)
    for (const bool taken : {false, true})
      out.push_back(make({p3, f.text,
                          fmt::format("MOV R0, 0x1 ;\nCSETP.{}.AND P1, PT, CC, PT ;\n"
                                      "@P1 MOV R0, 0x2 ;\n",
                                      taken ? "NEU" : "EQ")},
                         2, 1, tuples({f32(2), f32(2)}, 300), [=, holds = f.holds](In in, Out o) {
                           o[0] = holds(in) == taken ? 2 : 1;
                         }));
  out.push_back(make({"", "DSET.GT.AND RZ.CC, R8, R10, PT",
                      "MOV R0, 0x1 ;\nCSETP.NEU.AND P1, PT, CC, PT ;\n@P1 MOV R0, 0x2 ;\n"},
                     4, 1, tuples({f64(2), f64(2)}, 200), [](In in, Out o) {
                       o[0] = f64_of(wide(in[0], in[1])) > f64_of(wide(in[2], in[3])) ? 2 : 1;
                     }));
  out.back().doubles = true;
  // A flag as a value that sets flags.
  out.push_back(make({"IADD RZ.CC, R8, -R9 ;\n", "CSET.LT.AND RZ.CC, CC, PT",
                      "MOV R0, 0x1 ;\nCSETP.EQ.AND P1, PT, CC, PT ;\n@P1 MOV R0, 0x2 ;\n"},
                     2, 1, tuples({u32(), u32()}, 200),
                     [](In in, Out o) { o[0] = int32_t(in[0]) < int32_t(in[1]) ? 1 : 2; }));
}

/// All predicates from bits of R8, through a mask, and back.
void moves(std::vector<Case>& out) {
  std::string set, get = "MOV R0, RZ ;\n";
  for (unsigned n = 0; n < 7; ++n) {
    set += fmt::format("LOP32I.AND R16, R10, {:#x} ;\nISETP.NE.AND P{}, PT, R16, RZ, PT ;\n",
                       1U << n, n);
    get += fmt::format("@P{} LOP32I.OR R0, R0, {:#x} ;\n", n, 1U << n);
  }
  const Tuples t = tuples({u32(), u32(), u32()}, 500);
  const auto variants = [&](const std::string& before, const std::string& form,
                            const std::string& after, auto oracle) {
    const struct {
      std::string text;
      std::optional<uint32_t> value;
    } masks[] = {{"R9", {}}, {constant(2), 0x7f}, {"0x7f", 0x7f}, {"0x25", 0x25}};
    for (const auto& m : masks) {
      std::string text = form;
      text.replace(text.find("{b}"), 3, m.text);
      out.push_back(make({before, text, after}, 3, 1, t, [=](In in, Out o) {
        o[0] = oracle(in[0], m.value.value_or(in[1]) & 0x7f, in[2]);
      }));
      out.back().on_devices = m.text[0] == 'R';
    }
  };
  for (unsigned byte = 0; byte < 4; ++byte) {
    const std::string part = byte == 0 ? "" : fmt::format(".B{}", byte);
    variants(set, fmt::format("R2P PR, R8{}, {{b}}", part), get,
             [=](uint32_t a, uint32_t mask, uint32_t before) {
               return ((a >> 8 * byte & mask) | (before & ~mask)) & 0x7f;
             });
    variants(set, fmt::format("P2R{} R0, PR, R8, {{b}}", part), "",
             [=](uint32_t a, uint32_t mask, uint32_t p) {
               return (a & ~(mask << 8 * byte)) | (p & mask) << 8 * byte;
             });
  }
  // The condition code and back: what the flags were is tested behind instructions that change
  // them.
  for (const char* part : {"", ".B2"}) {
    const std::string keep = fmt::format(
                          "IADD RZ.CC, R8, R9 ;\nP2R{} R16, CC, R10, 0xf ;\n"
                          "IADD RZ.CC, R10, R10 ;\n",
                          part),
                      from = part[0] == '\0' ? "R16" : "R16.B2",
                      tests =
                          "IADD.X R0, RZ, RZ ;\nMOV R1, RZ ;\nCSETP.EQ.AND P0, PT, CC, PT ;\n"
                          "@P0 MOV32I R1, 0x1 ;\nCSETP.OFF.AND P1, PT, CC, PT ;\n";
    out.push_back(make({keep, "R2P CC, " + from + ", 0xf", tests}, 3, 2, t, [](In in, Out o) {
      const uint64_t sum = uint64_t{static_cast<uint32_t>(in[0])} + static_cast<uint32_t>(in[1]);
      o[0] = sum >> 32;
      o[1] = static_cast<uint32_t>(sum) == 0 ? 1 : 0;
    }));
  }
  // Its own guard is the old one.
  out.push_back(make({set + "MOV R17, R8 ;\n", "@P0 R2P PR, R17, 0x7f", get}, 3, 1, t,
                     [](In in, Out o) { o[0] = ((in[2] & 1) != 0 ? in[0] : in[2]) & 0x7f; }));
}

/// Where a division by the compiled sequence must not be trusted: the numbers' exponents say it.
void checks(std::vector<Case>& out) {
  const auto unsafe = [](float x, float y) {
    const auto ordinary = [](float v, int low, int high) {
      return std::isnormal(v) && std::ilogb(v) >= low && std::ilogb(v) <= high;
    };
    if (!ordinary(x, -101, 127) || !ordinary(y, -125, 125)) return true;
    const int quotient = std::ilogb(x) - std::ilogb(y);
    return quotient < -124 || quotient > 126;
  };
  for (unsigned n = 0; n < 4; ++n) {
    const std::string a = n % 2 != 0 ? "-R8" : "|R8|", b = n / 2 != 0 ? "-{b}" : "|{b}|";
    add_variants(
        out, {"", fmt::format("FCHK.DIVIDE P1, {}, {}", a, b), "SEL R0, RZ, 0x1, !P1 ;\n"}, 1, 2, 1,
        tuples({f32(20), f32(20)}, 2000),
        [=](In in, Out o) { o[0] = unsafe(f32_of(in[0]), f32_of(in[1])); }, floats());
  }
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> out;
  truths(out);
  flags_of_compares(out);
  moves(out);
  checks(out);
  return out;
}

TEST_CASE("values: predicates and flags in registers") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::predicate
