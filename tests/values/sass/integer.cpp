// Moves, sums, shifts, logic and multiplication of integers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::integer {

namespace {

/// Sets the carry where input n is not 0: n + 0xffffffff.
std::string carry_from(unsigned n) {
  return fmt::format("IADD RZ.CC, R{}, -0x1 ;\n", 8 + n);
}
constexpr const char* kCarryTo1 = "IADD.X R1, RZ, RZ ;\n";
constexpr const char* kFlagsTo1 =  // carry, zero, sign, overflow
    "CSETP.HS.AND P0, PT, CC, PT ;\nSEL R1, RZ, 0x1, !P0 ;\n"
    "CSETP.EQU.AND P0, PT, CC, PT ;\nSEL R2, RZ, 0x1, !P0 ;\n"
    "CSETP.SFT.AND P0, PT, CC, PT ;\nSEL R3, RZ, 0x1, !P0 ;\n"
    "CSETP.OFT.AND P0, PT, CC, PT ;\nSEL R4, RZ, 0x1, !P0 ;\n";

int64_t sext(uint32_t x) {
  return static_cast<int32_t>(x);
}
uint32_t clamped(int64_t x) {
  return static_cast<uint32_t>(std::clamp<int64_t>(x, INT32_MIN, INT32_MAX));
}
/// Sum of two words and a carry, with the flags.
void sum_with_flags(uint32_t a, uint32_t b, uint32_t carry, Out o) {
  const uint64_t sum = uint64_t{a} + b + carry;
  const int64_t exact = sext(a) + sext(b) + carry;
  o[0] = static_cast<uint32_t>(sum);
  o[1] = sum >> 32 & 1;
  o[2] = o[0] == 0;
  o[3] = o[0] >> 31;
  o[4] = exact != sext(o[0]);
}

class Builder {
 public:
  std::vector<Case> out;

  /// Two sources, the second in all its kinds.
  void two(const std::string& instruction, const Oracle& oracle) {
    add_variants(out, {"", instruction, ""}, 1, 2, 1, two_, oracle, integers());
  }
  /// The same with the flags as outputs.
  void flags(const std::string& instruction, const Oracle& oracle) {
    add_variants(out, {"", instruction, kFlagsTo1}, 1, 2, 5, two_, oracle, integers());
  }
  /// The same with the carry as third input, and as second output where asked for.
  void extended(const std::string& instruction, bool writes, const Oracle& oracle) {
    add_variants(out, {carry_from(2), instruction, writes ? kCarryTo1 : ""}, 1, 3, writes ? 2 : 1,
                 tuples({u32(), u32(), values::flags()}), oracle, integers());
  }
  void one(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle) {
    out.push_back(make(line, inputs, outputs, t, oracle));
  }

 private:
  Tuples two_ = tuples({u32(), u32()});
};

void moves(Builder& b) {
  const auto copy = [](In in, Out o) { o[0] = in[0]; };
  add_variants(b.out, {"", "MOV R0, {b}", ""}, 0, 1, 1, tuples({u32()}), copy, integers());
  b.one({"", "MOV32I R0, 0x89abcdef", ""}, 1, 1, {{0}}, [](In, Out o) { o[0] = 0x89abcdef; });
  // With a mask: lanes of each four whose bit is set.
  Case masked = make({"MOV R0, R9 ;\n", "MOV R0, R8, 0x5", ""}, 2, 1, tuples({u32(), u32()}), {});
  masked.wave = [](std::span<const In> in, std::span<const Out> o) {
    for (size_t lane = 0; lane < in.size(); ++lane)
      o[lane][0] = in[lane][(0x5 >> lane % 4 & 1) != 0 ? 0 : 1];
  };
  b.out.push_back(masked);
  const auto choose = [](In in, Out o) { o[0] = in[2] != 0 ? in[0] : in[1]; };
  for (const bool negated : {false, true}) {
    const std::string p = negated ? "!P0" : "P0";
    const std::string compare = negated ? "EQ" : "NE";
    add_variants(b.out,
                 {"ISETP." + compare + ".AND P0, PT, R10, RZ, PT ;\n", "SEL R0, R8, {b}, " + p, ""},
                 1, 3, 1, tuples({u32(), u32(), flags()}), choose, integers());
  }
}

void sums(Builder& b) {
  b.two("IADD R0, R8, {b}", [](In in, Out o) { o[0] = in[0] + in[1]; });
  b.two("IADD R0, -R8, {b}", [](In in, Out o) { o[0] = in[1] - in[0]; });
  b.two("IADD R0, R8, -{b}", [](In in, Out o) { o[0] = in[0] - in[1]; });
  b.two("IADD.PO R0, R8, {b}", [](In in, Out o) { o[0] = in[0] + in[1] + 1; });
  b.two("IADD.SAT R0, R8, {b}", [](In in, Out o) { o[0] = clamped(sext(in[0]) + sext(in[1])); });
  b.two("IADD.SAT R0, R8, -{b}", [](In in, Out o) { o[0] = clamped(sext(in[0]) - sext(in[1])); });
  b.two("IADD.SAT R0, -R8, {b}", [](In in, Out o) { o[0] = clamped(sext(in[1]) - sext(in[0])); });
  b.two("IADD.PO.SAT R0, R8, {b}",
        [](In in, Out o) { o[0] = clamped(sext(in[0]) + sext(in[1]) + 1); });
  b.flags("IADD R0.CC, R8, {b}", [](In in, Out o) { sum_with_flags(in[0], in[1], 0, o); });
  // -x is ~x + 1, so no carry is a borrow.
  b.flags("IADD R0.CC, R8, -{b}", [](In in, Out o) { sum_with_flags(in[0], ~in[1], 1, o); });
  b.flags("IADD.PO R0.CC, R8, {b}", [](In in, Out o) { sum_with_flags(in[0], in[1], 1, o); });
  b.extended("IADD.X R0, R8, {b}", false, [](In in, Out o) { o[0] = in[0] + in[1] + in[2]; });
  b.extended("IADD.X R0.CC, R8, {b}", true, [](In in, Out o) {
    const uint64_t sum = uint64_t{in[0]} + in[1] + in[2];
    o[0] = static_cast<uint32_t>(sum);
    o[1] = static_cast<uint32_t>(sum >> 32);
  });
  b.extended("IADD.X R0.CC, -R8, {b}", true, [](In in, Out o) {
    const uint64_t sum = uint64_t{~in[0]} + in[1] + in[2];
    o[0] = static_cast<uint32_t>(sum);
    o[1] = static_cast<uint32_t>(sum >> 32);
  });
}

void sums_of_long_immediates(Builder& b) {
  const Tuples numbers = tuples({u32()});
  const Tuples carried = tuples({u32(), flags()});
  for (const uint32_t k : {0x89abcdefU, 0x7fffffffU}) {
    const std::string imm = fmt::format("{:#x}", k);
    b.one({"", "IADD32I R0, R8, " + imm, ""}, 1, 1, numbers,
          [k](In in, Out o) { o[0] = in[0] + k; });
    b.one({"", "IADD32I R0, -R8, " + imm, ""}, 1, 1, numbers,
          [k](In in, Out o) { o[0] = k - in[0]; });
    b.one({"", "IADD32I.SAT R0, R8, " + imm, ""}, 1, 1, numbers,
          [k](In in, Out o) { o[0] = clamped(sext(in[0]) + sext(k)); });
    b.one({"", "IADD32I R0.CC, R8, " + imm, kFlagsTo1}, 1, 5, numbers,
          [k](In in, Out o) { sum_with_flags(in[0], k, 0, o); });
    b.one({carry_from(1), "IADD32I.X R0, R8, " + imm, ""}, 2, 1, carried,
          [k](In in, Out o) { o[0] = in[0] + k + in[1]; });
    b.one({"", "IADD32I.PO R0, R8, " + imm, ""}, 1, 1, numbers,
          [k](In in, Out o) { o[0] = in[0] + k + 1; });
    b.one({"", "IADD32I.PO.SAT R0, R8, " + imm, ""}, 1, 1, numbers,
          [k](In in, Out o) { o[0] = clamped(sext(in[0]) + sext(k) + 1); });
    b.one({"", "IADD32I.PO R0.CC, R8, " + imm, kFlagsTo1}, 1, 5, numbers,
          [k](In in, Out o) { sum_with_flags(in[0], k, 1, o); });
  }
}

/// IADD3 R0, {sign}R8, {sign}b, {sign}R10
void sums_of_three(Builder& b) {
  const Tuples three = tuples({u32(), u32(), u32()});
  for (unsigned signs = 0; signs < 8; ++signs) {
    const auto minus = [signs](unsigned n) { return (signs >> n & 1) != 0 ? "-" : ""; };
    add_variants(
        b.out,
        {"", fmt::format("IADD3 R0, {}R8, {}{{b}}, {}R10", minus(0), minus(1), minus(2)), ""}, 1, 3,
        1, three,
        [signs](In in, Out o) {
          o[0] = 0;
          for (unsigned n = 0; n < 3; ++n) o[0] += (signs >> n & 1) != 0 ? 0 - in[n] : in[n];
        },
        integers());
  }
  const auto part = [](uint32_t x, unsigned which) {
    return which == 0 ? x : which == 1 ? x & 0xffff : x >> 16;
  };
  for (const unsigned n : {1U, 2U, 3U, 8U}) {
    const unsigned pa = n % 3, pb = (n + 1) % 3, pc = n / 3;
    static constexpr const char* kHalves[] = {"", ".H0", ".H1"};
    b.one({"", fmt::format("IADD3 R0, R8{}, -R9{}, R10{}", kHalves[pa], kHalves[pb], kHalves[pc]),
           ""},
          3, 1, three,
          [=](In in, Out o) { o[0] = part(in[0], pa) - part(in[1], pb) + part(in[2], pc); });
  }
  // .RS keeps all 33 bits of the first sum.
  b.one({"", "IADD3.RS R0, R8, R9, R10", ""}, 3, 1, three, [](In in, Out o) {
    o[0] = static_cast<uint32_t>((uint64_t{in[0]} + in[1]) >> 16) + in[2];
  });
  b.one({"", "IADD3.LS R0, R8, R9, R10", ""}, 3, 1, three,
        [](In in, Out o) { o[0] = ((in[0] + in[1]) << 16) + in[2]; });
  // Sums of two words: the lower ones may carry twice.
  const Tuples words = tuples({u64(), u64(), u64()});
  const auto sum = [](In in, Out o, uint64_t a, uint64_t c) {
    const uint64_t s = a + wide(in[2], in[3]) + c;
    o[0] = static_cast<uint32_t>(s);
    o[1] = static_cast<uint32_t>(s >> 32);
  };
  b.one({"IADD3 R0.CC, R8, R10, R12 ;\n", "IADD3.X R1, R9, R11, R13", ""}, 6, 2, words,
        [sum](In in, Out o) { sum(in, o, wide(in[0], in[1]), wide(in[4], in[5])); });
  b.one({"", "IADD3 R0.CC, -R8, R10, R12", "IADD3.X R1, -R9, R11, R13 ;\n"}, 6, 2, words,
        [sum](In in, Out o) { sum(in, o, 0 - wide(in[0], in[1]), wide(in[4], in[5])); });
  b.one({"", "IADD3 R0.CC, -R8, R10, -R12", "IADD3.X R1, -R9, R11, -R13 ;\n"}, 6, 2, words,
        [sum](In in, Out o) { sum(in, o, 0 - wide(in[0], in[1]), 0 - wide(in[4], in[5])); });
  // The same where the second addend is a constant or an immediate: its upper word is 0.
  for (const auto& [text, value] :
       {std::pair{constant(0), constants()[0]}, {"0x7ffff", 0x7ffffU}}) {
    const uint64_t k = value;
    b.one({"", "IADD3 R0.CC, R8, " + text + ", R12", "IADD3.X R1, R9, RZ, R13 ;\n"}, 6, 2, words,
          [k](In in, Out o) {
            const uint64_t s = wide(in[0], in[1]) + k + wide(in[4], in[5]);
            o[0] = static_cast<uint32_t>(s);
            o[1] = static_cast<uint32_t>(s >> 32);
          });
    b.one({"IADD3 R0.CC, R8, R10, R12 ;\n", "IADD3.X R1, R9, " + text + ", R13", ""}, 6, 2, words,
          [k](In in, Out o) {
            const uint64_t s = wide(in[0], in[1]) + wide(in[2], 0) + (k << 32) + wide(in[4], in[5]);
            o[0] = static_cast<uint32_t>(s);
            o[1] = static_cast<uint32_t>(s >> 32);
          });
  }
}

void scaled_sums(Builder& b) {
  for (const unsigned n : {0U, 2U, 31U}) {
    const auto text = [n](const char* form) { return fmt::format("{}, {:#x}", form, n); };
    b.two(text("ISCADD R0, R8, {b}"), [n](In in, Out o) { o[0] = (in[0] << n) + in[1]; });
    b.two(text("ISCADD R0, -R8, {b}"), [n](In in, Out o) { o[0] = in[1] - (in[0] << n); });
    b.two(text("ISCADD R0, R8, -{b}"), [n](In in, Out o) { o[0] = (in[0] << n) - in[1]; });
    b.two(text("ISCADD.PO R0, R8, {b}"), [n](In in, Out o) { o[0] = (in[0] << n) + in[1] + 1; });
    b.flags(text("ISCADD R0.CC, R8, {b}"),
            [n](In in, Out o) { sum_with_flags(in[0] << n, in[1], 0, o); });
    b.flags(text("ISCADD.PO R0.CC, R8, {b}"),
            [n](In in, Out o) { sum_with_flags(in[0] << n, in[1], 1, o); });
  }
}

uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (unsigned n = 0; n < 32; ++n) r |= (x >> n & 1) << (31 - n);
  return r;
}
uint32_t shifted_left(uint32_t x, uint32_t n) {
  return n < 32 ? x << n : 0;
}
uint32_t shifted_right(uint32_t x, uint32_t n, bool is_signed) {
  if (is_signed) return static_cast<uint32_t>(sext(x) >> std::min(n, 31U));
  return n < 32 ? x >> n : 0;
}

void shifts_of_words(Builder& b) {
  const Tuples t = tuples({u32(), shifts()});
  const auto add = [&](const std::string& instruction, const Oracle& oracle) {
    add_variants(b.out, {"", instruction, ""}, 1, 2, 1, t, oracle, integers());
  };
  for (const bool wraps : {false, true}) {
    const std::string w = wraps ? ".W" : "";
    const auto amount = [wraps](uint32_t n) { return wraps ? n & 31 : n; };
    add("SHL" + w + " R0, R8, {b}",
        [amount](In in, Out o) { o[0] = shifted_left(in[0], amount(in[1])); });
    for (const bool is_signed : {false, true}) {
      const std::string name = std::string("SHR") + (is_signed ? "" : ".U32") + w;
      add(name + " R0, R8, {b}",
          [=](In in, Out o) { o[0] = shifted_right(in[0], amount(in[1]), is_signed); });
      add(name + ".BREV R0, R8, {b}",
          [=](In in, Out o) { o[0] = shifted_right(reversed(in[0]), amount(in[1]), is_signed); });
    }
  }
}

/// {high, low} after a shift of 64 bits.
uint64_t funnel(uint32_t low, uint32_t high, uint32_t n, bool left, bool is_signed) {
  const uint64_t pair = wide(low, high);
  if (left) return n < 64 ? pair << n : 0;
  if (is_signed) return static_cast<uint64_t>(static_cast<int64_t>(pair) >> std::min(n, 63U));
  return n < 64 ? pair >> n : 0;
}

void funnel_shift(Builder& b, bool left, bool wraps, bool high, const std::string& type) {
  const Tuples t = tuples({u32(), shifts(), u32()});
  const uint32_t limit = type.empty() ? 32 : 64;
  const auto name =
      fmt::format("SHF.{}{}{}{}", left ? "L" : "R", wraps ? ".W" : "", type, high ? ".HI" : "");
  const Oracle oracle = [=](In in, Out o) {
    const uint32_t n = wraps ? in[1] % limit : std::min(in[1], limit);
    const uint64_t shifted = funnel(in[0], in[2], n, left, type == ".S64");
    o[0] = static_cast<uint32_t>(left || high ? shifted >> 32 : shifted);
  };
  b.one({"", name + " R0, R8, R9, R10", ""}, 3, 1, t, oracle);
  for (const uint32_t n : {0x5U, 0x20U, 0x3fU}) {
    Tuples fixed = t;
    for (Words& w : fixed) w[1] = n;
    b.one({"", fmt::format("{} R0, R8, {:#x}, R10", name, n), ""}, 3, 1, fixed, oracle);
  }
}

void funnel_shifts(Builder& b) {
  for (const bool left : {false, true})
    for (const char* type : {"", ".U64", ".S64"})
      for (const bool wraps : {false, true})
        for (const bool high : {false, true}) funnel_shift(b, left, wraps, high, type);
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  moves(b);
  sums(b);
  sums_of_long_immediates(b);
  sums_of_three(b);
  scaled_sums(b);
  shifts_of_words(b);
  funnel_shifts(b);
  return std::move(b.out);
}

TEST_CASE("values: sums and shifts") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::integer
