// Logic, predicates, compares, bit fields, selections and 16-bit multiplication.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>

#include "tests/values/sass/sass.hpp"

namespace values::sass::logic {

namespace {

/// Puts "input n is not 0" into a predicate.
std::string into_predicate(unsigned p, unsigned n) {
  return fmt::format("ISETP.NE.AND P{}, PT, R{}, RZ, PT ;\n", p, 8 + n);
}
std::string from_predicate(unsigned r, unsigned p) {
  return fmt::format("SEL R{}, RZ, 0x1, !P{} ;\n", r, p);
}
const std::string kPredicates12 = from_predicate(0, 1) + from_predicate(1, 2);

bool combined(const std::string& bop, bool x, bool y) {
  return bop == "AND" ? x && y : bop == "OR" ? x || y : x != y;
}
uint32_t combined(const std::string& op, uint32_t x, uint32_t y) {
  return op == "AND" ? x & y : op == "OR" ? x | y : op == "XOR" ? x ^ y : y;
}

template <typename T>
bool compared(const std::string& cond, T x, T y) {
  if (cond == "LT") return x < y;
  if (cond == "EQ") return x == y;
  if (cond == "LE") return x <= y;
  if (cond == "GT") return x > y;
  if (cond == "NE") return x != y;
  if (cond == "GE") return x >= y;
  return cond == "T";
}
bool compared(const std::string& cond, bool is_signed, uint32_t x, uint32_t y) {
  return is_signed ? compared(cond, static_cast<int32_t>(x), static_cast<int32_t>(y))
                   : compared(cond, x, y);
}
constexpr const char* kConditions[] = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};
constexpr const char* kOperators[] = {"AND", "OR", "XOR"};

class Builder {
 public:
  std::vector<Case> out;
  void all(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle, bool on_devices = true) {
    const size_t first = out.size();
    add_variants(out, line, 1, inputs, outputs, t, oracle, integers());
    for (size_t n = first; n < out.size() && !on_devices; ++n) out[n].on_devices = false;
  }
  void one(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle, bool on_devices = true) {
    out.push_back(make(line, inputs, outputs, t, oracle));
    out.back().on_devices = on_devices;
  }
};

void logic(Builder& b) {
  const Tuples two = tuples({u32(), u32()});
  for (const char* name : {"AND", "OR", "XOR", "PASS_B"}) {
    const std::string op = name;
    for (unsigned inverted = 0; inverted < 4; ++inverted) {
      const bool na = (inverted & 1) != 0, nb = (inverted & 2) != 0;
      const auto value = [=](In in) {
        return combined(op, na ? ~in[0] : in[0], nb ? ~in[1] : in[1]);
      };
      b.all({"", fmt::format("LOP.{} R0, {}R8, {}{{b}}", op, na ? "~" : "", nb ? "~" : ""), ""}, 2,
            1, two, [value](In in, Out o) { o[0] = value(in); });
      b.one(
          {"", fmt::format("LOP32I.{} R0, {}R8, 0x89abcdef{}", op, na ? "~" : "", nb ? ".INV" : ""),
           ""},
          1, 1, tuples({u32()}), [value](In in, Out o) {
            const uint32_t words[] = {in[0], 0x89abcdef};
            o[0] = value(words);
          });
    }
    // The predicate says false, true, zero, not zero.
    for (const char* test : {"T", "Z", "NZ"})
      b.all(
          {"", fmt::format("LOP.{}.{} P1, R0, R8, {{b}}", op, test), from_predicate(1, 1)}, 2, 2,
          two,
          [op, want = std::string(test)](In in, Out o) {
            o[0] = combined(op, in[0], in[1]);
            o[1] = want == "T" || (want == "Z") == (o[0] == 0);
          },
          op == "XOR");
  }
  b.all({"", "LOP.AND P1, R0, R8, {b}", from_predicate(1, 1)}, 2, 2, two, [](In in, Out o) {
    o[0] = in[0] & in[1];
    o[1] = 0;
  });
}

/// Logic sets zero and sign; with .X zero is that of all words so far. Carry, overflow are cleared.
void logic_flags(Builder& b) {
  const std::string flags =
      "CSETP.EQU.AND P0, PT, CC, PT ;\nSEL R1, RZ, 0x1, !P0 ;\n"
      "CSETP.SFT.AND P0, PT, CC, PT ;\nSEL R2, RZ, 0x1, !P0 ;\n"
      "CSETP.HS.OR P0, PT, CC, !PT ;\nCSETP.OFT.OR P0, PT, CC, P0 ;\nSEL R3, RZ, 0x1, !P0 ;\n";
  const std::string dirty = "IADD R16, R10, -0x1 ;\nIADD RZ.CC, R16, -0x7fff ;\n";
  const Tuples three = tuples({u32(), u32(), Pool{1, {0, 0x8000, 0x80000000}}});
  const auto oracle = [](uint32_t result, bool zero_before, Out o) {
    o[0] = result;
    o[1] = result == 0 && zero_before;
    o[2] = result >> 31;
    o[3] = 0;
  };
  const auto was_zero = [](In in) { return in[2] - 1 - 0x7fff == 0; };
  const auto plain = [oracle](In in, Out o) { oracle(in[0] & in[1], true, o); };
  const auto extended = [=](In in, Out o) { oracle(in[0] & in[1], was_zero(in), o); };
  b.all({dirty, "LOP.AND R0.CC, R8, {b}", flags}, 3, 4, three, plain);
  b.all({dirty, "LOP.AND.X R0.CC, R8, {b}", flags}, 3, 4, three, extended);
  b.all({dirty, "LOP.AND.X.Z P1, R0.CC, R8, {b}", flags + from_predicate(4, 1)}, 3, 5, three,
        [=](In in, Out o) {
          extended(in, o);
          o[4] = o[1];
        });
  b.one({dirty, "LOP32I.AND R0.CC, R8, 0x89abcdef", flags}, 3, 4, three,
        [=](In in, Out o) { oracle(in[0] & 0x89abcdef, true, o); });
  b.one({dirty, "LOP32I.AND.X R0.CC, R8, 0x89abcdef", flags}, 3, 4, three,
        [=](In in, Out o) { oracle(in[0] & 0x89abcdef, was_zero(in), o); });
  const auto xor_of_three = [=](In in, Out o) { oracle(in[0] ^ in[1] ^ in[2], true, o); };
  b.all({dirty, "LOP3.LUT R0.CC, R8, {b}, R10, 0x96", flags}, 3, 4, three, xor_of_three);
  b.all({dirty, "LOP3.LUT.X R0.CC, R8, {b}, R10, 0x96", flags}, 3, 4, three,
        [=](In in, Out o) { oracle(in[0] ^ in[1] ^ in[2], was_zero(in), o); });
}

uint32_t by_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (unsigned n = 0; n < 32; ++n) {
    const unsigned index = (a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1);
    r |= (table >> index & 1) << n;
  }
  return r;
}

void three_input_logic(Builder& b) {
  const Tuples three = tuples({u32(), u32(), u32()}, 512);
  for (const uint32_t table : {0x00U, 0x01U, 0x1eU, 0x6aU, 0xcaU, 0xe8U, 0xf0U, 0xffU}) {
    b.all({"", fmt::format("LOP3.LUT R0, R8, {{b}}, R10, {:#x}", table), ""}, 3, 1, three,
          [table](In in, Out o) { o[0] = by_table(table, in[0], in[1], in[2]); });
  }
  for (const char* test : {"", ".T", ".Z", ".NZ"})
    b.one({"", fmt::format("LOP3.LUT{} P1, R0, R8, R9, R10, 0x80", test), from_predicate(1, 1)}, 3,
          2, three, [want = std::string(test)](In in, Out o) {
            o[0] = in[0] & in[1] & in[2];
            o[1] = want == ".T" || (want == ".Z" && o[0] == 0) || (want == ".NZ" && o[0] != 0);
          });
}

void predicate_logic(Builder& b) {
  const Tuples three = tuples({flags(), flags(), flags()});
  const std::string before = into_predicate(0, 0) + into_predicate(3, 1) + into_predicate(4, 2);
  for (const std::string first : kOperators)
    for (const std::string second : kOperators)
      for (unsigned not_ = 0; not_ < 8; ++not_) {
        const auto sign = [not_](unsigned n) { return (not_ >> n & 1) != 0 ? "!" : ""; };
        b.one({before,
               fmt::format("PSETP.{}.{} P1, P2, {}P0, {}P3, {}P4", first, second, sign(0), sign(1),
                           sign(2)),
               kPredicates12},
              3, 2, three, [=](In in, Out o) {
                const auto p = [&](unsigned n) { return (in[n] != 0) != ((not_ >> n & 1) != 0); };
                const bool x = combined(first, p(0), p(1));
                o[0] = combined(second, x, p(2));
                o[1] = combined(second, !x, p(2));
              });
        b.out.back().on_devices = not_ == 5;
      }
}

void integer_tests(Builder& b) {
  const Tuples t = tuples({u32(), u32(), flags()});
  for (const std::string cond : kConditions)
    for (const bool is_signed : {false, true})
      for (const std::string bop : kOperators) {
        const std::string type = is_signed ? "" : ".U32";
        b.all(
            {into_predicate(3, 2),
             fmt::format("ISETP.{}{}.{} P1, P2, R8, {{b}}, {}P3", cond, type, bop,
                         is_signed ? "!" : ""),
             kPredicates12},
            3, 2, t,
            [=](In in, Out o) {
              const bool x = compared(cond, is_signed, in[0], in[1]);
              const bool third = (in[2] != 0) != is_signed;  // signed ones negate it
              o[0] = combined(bop, x, third);
              o[1] = combined(bop, !x, third);
            },
            bop == kOperators[cond[0] % 3]);
        if (cond != "LT" && bop != "AND") continue;
        for (const bool as_float : {false, true})
          b.all(
              {into_predicate(3, 2),
               fmt::format("ISET{}.{}{}.{} R0, R8, {{b}}, !P3", as_float ? ".BF" : "", cond, type,
                           bop),
               ""},
              3, 1, t,
              [=](In in, Out o) {
                const bool x = compared(cond, is_signed, in[0], in[1]);
                o[0] = !combined(bop, x, in[2] == 0) ? 0 : as_float ? 0x3f800000 : 0xffffffff;
              },
              as_float == is_signed && bop == "AND");
      }
}

/// The upper word of a compare whose lower word was a subtraction.
void wide_tests(Builder& b) {
  const Tuples t = tuples({u64(), u64()});
  Tuples swapped;  // upper words first, so that the second source is input 1
  for (const Words& w : t) swapped.push_back({w[1], w[3], w[0], w[2]});
  for (const std::string cond : {"LT", "EQ", "LE", "GT", "NE", "GE"})
    for (const bool is_signed : {false, true}) {
      const std::string type = is_signed ? "" : ".U32";
      const auto test = [=](In in) {
        const uint64_t x = wide(in[2], in[0]), y = wide(in[3], in[1]);
        return is_signed ? compared(cond, static_cast<int64_t>(x), static_cast<int64_t>(y))
                         : compared(cond, x, y);
      };
      b.all({"IADD RZ.CC, R10, -R11 ;\n",
             fmt::format("ISETP.{}{}.X.AND P1, P2, R8, {{b}}, PT", cond, type), kPredicates12},
            4, 2, swapped, [test](In in, Out o) {
              o[0] = test(in);
              o[1] = !test(in);
            });
      b.all(
          {"IADD RZ.CC, R10, -R11 ;\n",
           fmt::format("ISET.{}{}.X.AND R0, R8, {{b}}, PT", cond, type), ""},
          4, 1, swapped, [test](In in, Out o) { o[0] = test(in) ? 0xffffffff : 0; }, false);
      if (cond != "NE") continue;  // the others' flags could be read in two ways
      b.one({"IADD RZ.CC, R10, -R11 ;\n", fmt::format("ISET.NE{}.X.AND R0.CC, R8, R9, PT", type),
             "CSETP.NEU.AND P1, PT, CC, PT ;\nSEL R1, RZ, 0x1, !P1 ;\n"
             "CSETP.EQU.AND P1, PT, CC, PT ;\nSEL R2, RZ, 0x1, !P1 ;\n"},
            4, 3, swapped, [test](In in, Out o) {
              o[0] = test(in) ? 0xffffffff : 0;
              o[1] = test(in);
              o[2] = !test(in);
            });
    }
}

void selections(Builder& b) {
  const Tuples three = tuples({u32(), u32(), u32()}, 512);
  for (const std::string cond : kConditions)
    for (const bool is_signed : {false, true}) {
      const std::string name = "ICMP." + cond + (is_signed ? "" : ".U32");
      b.all({"", name + " R0, R8, {b}, R10", ""}, 3, 1, three,
            [=](In in, Out o) { o[0] = compared(cond, is_signed, in[2], 0) ? in[0] : in[1]; });
      for (unsigned n = 0; n < 3; ++n)
        b.one({"", name + " R0, R8, R9, " + constant(n), ""}, 2, 1, tuples({u32(), u32()}, 64),
              [=, k = constants()[n]](In in, Out o) {
                o[0] = compared(cond, is_signed, k, 0) ? in[0] : in[1];
              });
    }
  const Tuples chosen = tuples({u32(), u32(), flags()});
  for (const bool is_signed : {false, true})
    for (const bool negated : {false, true})
      b.all(
          {into_predicate(3, 2),
           fmt::format("IMNMX{} R0, R8, {{b}}, {}P3", is_signed ? "" : ".U32", negated ? "!" : ""),
           ""},
          3, 1, chosen, [=](In in, Out o) {
            const bool smaller = (in[2] != 0) != negated;
            o[0] = compared("LT", is_signed, in[0], in[1]) == smaller ? in[0] : in[1];
          });
}

/// Smaller or larger of two numbers of two and of three words, from the top down.
void wide_selections(Builder& b) {
  const Tuples t = tuples({u64(), u64(), u32(0), u32(0)}, 2048);
  Tuples spread;
  for (const Words& w : t) spread.push_back({w[1], w[3], w[0], w[2], w[4], w[5]});
  for (const bool is_signed : {false, true})
    for (const bool smaller : {true, false}) {
      const std::string type = is_signed ? "" : ".U32", p = smaller ? "PT" : "!PT";
      const auto first = [=](In in, bool three) {
        const uint64_t x = wide(in[2], in[0]), y = wide(in[3], in[1]);
        if (x == y && three) return (in[4] < in[5]) == smaller || in[4] == in[5];
        const bool less = is_signed ? static_cast<int64_t>(x) < static_cast<int64_t>(y) : x < y;
        return x == y || less == smaller;
      };
      const auto line = [&](const char* mode, bool cc, const char* d, const char* a,
                            const char* operand) {
        return fmt::format("IMNMX{}.{} {}{}, {}, {}, {}",
                           *mode == 'X' && mode[1] == 'H' ? type : ".U32", mode, d, cc ? ".CC" : "",
                           a, operand, p);
      };
      const std::string high = line("XHI", true, "R0", "R8", "R9") + " ;\n";
      const auto pick = [=](In in, Out o, bool three) {
        const bool a = first(in, three);
        for (unsigned n = 0; n < (three ? 3U : 2U); ++n) o[n] = in[2 * n + (a ? 0 : 1)];
      };
      b.one({"", line("XHI", true, "R0", "R8", "R9"),
             line("XLO", false, "R1", "R10", "R11") + " ;\n"},
            6, 2, spread, [=](In in, Out o) { pick(in, o, false); });
      b.one({high, line("XMED", true, "R1", "R10", "R11"),
             line("XLO", false, "R2", "R12", "R13") + " ;\n"},
            6, 3, spread, [=](In in, Out o) { pick(in, o, true); });
      // Constants and immediates as the last word.
      for (const auto& [text, value] :
           {std::pair{constant(1), constants()[1]}, {std::string("0x21"), 0x21U}}) {
        Tuples fixed = spread;
        for (Words& w : fixed) w[3] = value;
        b.one({high, line("XLO", false, "R1", "R10", text.c_str()), ""}, 6, 2, fixed,
              [=](In in, Out o) { pick(in, o, false); });
      }
    }
}

uint32_t field(uint32_t a, uint32_t where, bool is_signed) {
  const unsigned position = where & 0xff, length = where >> 8 & 0xff;
  uint32_t r = 0;
  const auto bit = [&](unsigned n) { return n < 32 ? a >> n & 1 : is_signed ? a >> 31 : 0; };
  for (unsigned n = 0; n < 32 && length != 0; ++n)
    r |= (n < length ? bit(position + n) : is_signed ? bit(position + length - 1) : 0) << n;
  return r;
}
uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (unsigned n = 0; n < 32; ++n) r |= (x >> n & 1) << (31 - n);
  return r;
}

void bit_fields(Builder& b) {
  Pool where{1, {0xffffffff}};
  for (const uint32_t length : {0U, 1U, 5U, 8U, 16U, 31U, 32U, 33U, 255U})
    for (const uint32_t position : {0U, 1U, 8U, 16U, 31U, 32U, 255U})
      where.values.push_back(0xabcd0000 | length << 8 | position);
  const Tuples t = tuples({u32(), where}, 2000);
  for (const bool is_signed : {false, true})
    for (const bool reverse : {false, true})
      b.all({"",
             fmt::format("BFE{}{} R0, R8, {{b}}", is_signed ? "" : ".U32", reverse ? ".BREV" : ""),
             ""},
            2, 1, t, [=](In in, Out o) {
              o[0] = field(reverse ? reversed(in[0]) : in[0], in[1], is_signed);
            });
  Pool powers = u32();
  for (unsigned n = 0; n < 32; ++n) powers.values.push_back(uint64_t{1} << n);
  const Tuples numbers = tuples({powers});
  const auto all = [&](const std::string& instruction, const Oracle& oracle) {
    add_variants(b.out, {"", instruction, ""}, 0, 1, 1, numbers, oracle, integers());
  };
  for (const bool inverted : {false, true}) {
    const std::string operand = inverted ? "~{b}" : "{b}";
    const auto value = [inverted](In in) { return inverted ? ~in[0] : in[0]; };
    all("POPC R0, " + operand,
        [value](In in, Out o) { o[0] = static_cast<uint32_t>(std::popcount(value(in))); });
    for (const bool is_signed : {false, true})
      for (const bool distance : {false, true})
        all(fmt::format("FLO{}{} R0, {}", is_signed ? "" : ".U32", distance ? ".SH" : "", operand),
            [=](In in, Out o) {
              uint32_t x = value(in);
              if (is_signed && x >> 31 != 0) x = ~x;  // the highest bit unlike the sign
              const auto zeros = static_cast<uint32_t>(std::countl_zero(x));
              o[0] = x == 0 ? 0xffffffff : distance ? zeros : 31 - zeros;
            });
  }
}

uint32_t permuted(const std::string& mode, uint32_t a, uint32_t selector, uint32_t c) {
  const uint64_t bytes = wide(a, c);
  const auto byte = [&](unsigned n) { return static_cast<uint32_t>(bytes >> 8 * (n & 7) & 0xff); };
  const unsigned s = selector & 3;
  uint32_t r = 0;
  for (unsigned n = 0; n < 4; ++n) {
    uint32_t v = 0;
    if (mode.empty()) {
      v = byte(selector >> 4 * n);
      if ((selector >> (4 * n + 3) & 1) != 0) v = (v & 0x80) != 0 ? 0xff : 0;
    } else if (mode == ".F4E") {
      v = byte(s + n);
    } else if (mode == ".B4E") {
      v = byte(s - n);
    } else if (mode == ".RC8") {
      v = byte(s);
    } else if (mode == ".ECL") {
      v = byte(std::max(n, s));
    } else if (mode == ".ECR") {
      v = byte(std::min(n, s));
    } else {
      v = byte((s & 1) * 2 + (n & 1));
    }
    r |= v << 8 * n;
  }
  return r;
}

void permutations(Builder& b) {
  const Pool bytes{1, {0x03020100, 0x87f6e5d4, 0xff007f80}};
  const Pool selectors =
      Pool{1, {0, 1, 2, 3, 4, 0x3210, 0x7654, 0x0123, 0xfedc, 0x8888, 0x5140, 0xab12cd34}};
  const Tuples t = tuples({bytes, selectors, bytes.with({0x12345678})});
  for (const std::string mode : {"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"})
    b.all({"", "PRMT" + mode + " R0, R8, {b}, R10", ""}, 3, 1, t,
          [mode](In in, Out o) { o[0] = permuted(mode, in[0], in[1], in[2]); });
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  logic(b);
  logic_flags(b);
  three_input_logic(b);
  predicate_logic(b);
  integer_tests(b);
  wide_tests(b);
  selections(b);
  wide_selections(b);
  bit_fields(b);
  permutations(b);
  return std::move(b.out);
}

TEST_CASE("values: logic, compares and bit fields") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::logic
