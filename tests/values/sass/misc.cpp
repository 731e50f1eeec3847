// Addresses, 16-bit multiplication, tests of the flags, lanes and special registers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>

#include "tests/values/sass/sass.hpp"

namespace values::sass::misc {

namespace {

constexpr const char* kCarryTo1 = "IADD.X R1, RZ, RZ ;\n";
const std::string kPredicate1To0 = "SEL R0, RZ, 0x1, !P1 ;\n";

class Builder {
 public:
  std::vector<Case> out;
  void all(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle) {
    add_variants(out, line, 1, inputs, outputs, t, oracle, integers());
  }
  void one(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle) {
    out.push_back(make(line, inputs, outputs, t, oracle));
  }
  void wave(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
            const WaveOracle& oracle) {
    out.push_back(make(line, inputs, outputs, t, {}));
    out.back().wave = oracle;
  }
};

void put_sum(uint64_t a, uint64_t b, uint64_t carry, Out o) {
  const uint64_t sum = a + b + carry;
  o[0] = static_cast<uint32_t>(sum);
  o[1] = sum >> 32 & 1;
}

void addresses(Builder& b) {
  const Tuples two = tuples({u32(), u32()}, 400);
  for (const unsigned n : {0U, 3U, 31U}) {
    b.all({"", fmt::format("LEA R0, R8, {{b}}, {:#x}", n), ""}, 2, 1, two,
          [n](In in, Out o) { o[0] = (in[0] << n) + in[1]; });
    b.all({"", fmt::format("LEA R0, -R8, {{b}}, {:#x}", n), ""}, 2, 1, two,
          [n](In in, Out o) { o[0] = in[1] - (in[0] << n); });
    b.all({"", fmt::format("LEA R0.CC, R8, {{b}}, {:#x}", n), kCarryTo1}, 2, 2, two,
          [n](In in, Out o) { put_sum(in[0] << n, in[1], 0, o); });
    b.all({"IADD RZ.CC, R10, -0x1 ;\n", fmt::format("LEA.X R0, R8, {{b}}, {:#x}", n), ""}, 3, 1,
          tuples({u32(), u32(), flags()}, 400),
          [n](In in, Out o) { o[0] = (in[0] << n) + in[1] + in[2]; });
    // The upper word of a shifted pair.
    const Tuples three = tuples({u32(), u32(), u32()}, 400);
    const auto high = [n](In in) { return static_cast<uint32_t>(wide(in[0], in[2]) << n >> 32); };
    for (const std::string operand : {"R9", "c"}) {
      Tuples t = three;
      if (operand == "c")
        for (Words& w : t) w[1] = constants()[1];
      const std::string second = operand == "c" ? constant(1) : operand;
      b.one({"", fmt::format("LEA.HI R0, R8, {}, R10, {:#x}", second, n), ""}, 3, 1, t,
            [high](In in, Out o) { o[0] = high(in) + in[1]; });
      b.one({"", fmt::format("LEA.HI R0.CC, R8, {}, R10, {:#x}", second, n), kCarryTo1}, 3, 2, t,
            [high](In in, Out o) { put_sum(high(in), in[1], 0, o); });
      Tuples carried;
      for (Words w : t) {
        w.push_back(w[0] & 1);
        carried.push_back(w);
      }
      b.one({"IADD RZ.CC, R11, -0x1 ;\n", fmt::format("LEA.HI.X R0, R8, {}, R10, {:#x}", second, n),
             ""},
            4, 1, carried, [high](In in, Out o) { o[0] = high(in) + in[1] + in[3]; });
      b.one({"IADD RZ.CC, R11, -0x1 ;\n",
             fmt::format("LEA.HI.X R0.CC, -R8, {}, R10, {:#x}", second, n), kCarryTo1},
            4, 2, carried, [high](In in, Out o) { put_sum(~high(in), in[1], in[3], o); });
    }
  }
  // Is an address outside the windows of 2^24 bytes? That of shared memory starts at c[0x0][0x0];
  // R28:R29 is an address of global memory.
  const Tuples inside = tuples({Pool{1, {0, 1, 0x123456, 0xffffff}}});
  const auto says = [](uint32_t outside) { return [=](In, Out o) { o[0] = outside; }; };
  const std::string window = "MOV R9, c[0x0][0x0] ;\n";
  b.one({window, "LEA P1, R16, R8, R9, 0x0", kPredicate1To0}, 1, 1, inside, says(0));
  b.one({"", "LEA P1, R16, R8, c[0x0][0x0], 0x0", kPredicate1To0}, 1, 1, inside, says(0));
  b.one({"", "LEA P1, R16, R8, c[0x0][0x4], 0x0", kPredicate1To0}, 1, 1, inside, says(0));
  b.one({"MOV R16, c[0x0][0x0] ;\n", "LEA P1, R16, R16, 0x123, 0x0", kPredicate1To0}, 1, 1, inside,
        says(0));
  b.one({"", "LEA P1, R16, R28, RZ, 0x0", kPredicate1To0}, 1, 1, inside, says(1));
  const auto pair = [&](const std::string& low, const std::string& high, uint32_t outside) {
    b.one(
        {"LEA R16.CC, " + low + ", 0x0 ;\n", "LEA.HI.X P1, R17, " + high + ", 0x0", kPredicate1To0},
        1, 1, inside, says(outside));
  };
  pair("R8, c[0x0][0x0]", "R8, RZ, RZ", 0);
  pair("R8, c[0x0][0x4]", "R8, RZ, RZ", 0);
  pair("R28, RZ", "R28, RZ, R29", 1);
  pair("R8, c[0x0][0x0]", "R8, " + constant(1) + ", RZ", 1);  // the upper word is not 0
}

struct Multiplication {
  unsigned signs = 0;  ///< bit 0: first factor, bit 1: second
  bool ha = false, hb = false;
  bool shifted = false;
  unsigned acc = 0;  ///< whole, .CLO, .CHI, 3 = .CBCC
  bool merged = false;

  std::string name() const {
    static constexpr const char* kSigns[] = {"", ".S16.U16", ".U16.S16", ".S16.S16"};
    static constexpr const char* kAcc[] = {"", ".CLO", ".CHI", ".CBCC"};
    return fmt::format("XMAD{}{}{}{}", kSigns[signs], shifted ? ".PSL" : "", kAcc[acc],
                       merged ? ".MRG" : "");
  }
  uint32_t product(In in) const {
    const auto half = [](uint32_t x, bool high, bool is_signed) -> int64_t {
      const uint32_t h = high ? x >> 16 : x & 0xffff;
      return is_signed ? static_cast<int16_t>(h) : static_cast<int64_t>(h);
    };
    const int64_t p = half(in[0], ha, (signs & 1) != 0) * half(in[1], hb, (signs & 2) != 0);
    return static_cast<uint32_t>(shifted ? p << 16 : p);
  }
  uint32_t addend(In in) const {
    if (acc == 1) return in[2] & 0xffff;
    if (acc == 2) return in[2] >> 16;
    return acc == 3 ? in[2] + (in[1] << 16) : in[2];
  }
  uint32_t operator()(In in) const {
    const uint32_t sum = product(in) + addend(in);
    return merged ? (sum & 0xffff) | in[1] << 16 : sum;
  }
};

void multiplications(Builder& b) {
  const Tuples three = tuples({u32(), u32(), u32()}, 300);
  std::vector<Multiplication> all;
  for (unsigned n = 0; n < 16; ++n) all.push_back({n / 4, n % 2 != 0, n / 2 % 2 != 0});
  for (unsigned acc = 0; acc < 4; ++acc)
    for (const bool shifted : {false, true}) all.push_back({acc, true, false, shifted, acc});
  all.push_back({0, false, true, false, 0, true});
  all.push_back({3, true, true, true, 0, true});
  for (const Multiplication& m : all) {
    const std::string a = m.ha ? "R8.H1" : "R8", h = m.hb ? ".H1" : "";
    const auto fixed = [&](unsigned word, uint32_t value) {
      Tuples t = three;
      for (Words& w : t) w[word] = value;
      return t;
    };
    const auto add = [&](const std::string& second, const std::string& third, const Tuples& t) {
      const std::string operands = a + ", " + second + ", " + third;
      b.one({"", m.name() + " R0, " + operands, ""}, 3, 1, t, [m](In in, Out o) { o[0] = m(in); });
      b.out.back().on_devices = second[0] == 'R' && third[0] == 'R';
      if (m.merged || m.acc == 3) return;
      b.one({"", m.name() + " R0.CC, " + operands, kCarryTo1}, 3, 2, t,
            [m](In in, Out o) { put_sum(m.product(in), m.addend(in), 0, o); });
      b.out.back().on_devices = false;
      Tuples carried = t;
      for (Words& w : carried) w.push_back(w[0] >> 1 & 1);
      b.one({"IADD RZ.CC, R11, -0x1 ;\n", m.name() + ".X R0, " + operands, ""}, 4, 1, carried,
            [m](In in, Out o) { o[0] = m(in) + in[3]; });
      b.out.back().on_devices = false;
    };
    add("R9" + h, "R10", three);
    if (!m.hb) add("0x8001", "R10", fixed(1, 0x8001));
    if (m.acc != 3) {
      add(constant(1) + h, "R10", fixed(1, constants()[1]));
      if (!m.shifted && !m.merged) add("R9" + h, constant(1), fixed(2, constants()[1]));
    }
  }
  // Three make a product of 32 bits, six its upper half; .CSFU subtracts what signed halves have
  // too much.
  b.one({"XMAD.MRG R16, R8, R9.H1, RZ ;\nXMAD R17, R8, R9, RZ ;\n",
         "XMAD.PSL.CBCC R0, R8.H1, R16.H1, R17", ""},
        2, 1, tuples({u32(), u32()}, 400), [](In in, Out o) { o[0] = in[0] * in[1]; });
  const auto csfu = [](In in, Out o) {
    const int64_t ah = static_cast<int16_t>(in[0] >> 16), bh = static_cast<int16_t>(in[1] >> 16);
    const auto extra = [](uint32_t x, uint32_t y) {
      return (x >> 31) != 0 && (y & 0xffff) != 0 ? 0x10000U : 0U;
    };
    o[0] = static_cast<uint32_t>(ah * bh) + in[2] - extra(in[0], in[1]) - extra(in[1], in[0]);
  };
  b.one({"", "XMAD.S16.S16.CSFU R0, R8.H1, R9.H1, R10", ""}, 3, 1, three, csfu);
  Tuples t = three;
  for (Words& w : t) w[1] = constants()[1];
  b.one({"", "XMAD.S16.S16.CSFU R0, R8.H1, " + constant(1) + ".H1, R10", ""}, 3, 1, t, csfu);
  for (size_t n = 0; n < three.size(); ++n) t[n] = {three[n][0], three[n][1], constants()[1]};
  b.one({"", "XMAD.S16.S16.CSFU R0, R8.H1, R9.H1, " + constant(1), ""}, 3, 1, t, csfu);
}

/// After a - b the tests mean what their names say.
void flag_tests(Builder& b) {
  using Test = bool (*)(int32_t, int32_t);
  static const std::vector<std::pair<const char*, Test>> tests = {
      {"F", [](int32_t, int32_t) { return false; }},
      {"LT", [](int32_t x, int32_t y) { return x < y; }},
      {"EQ", [](int32_t x, int32_t y) { return x == y; }},
      {"LE", [](int32_t x, int32_t y) { return x <= y; }},
      {"GT", [](int32_t x, int32_t y) { return x > y; }},
      {"NE", [](int32_t x, int32_t y) { return x != y; }},
      {"GE", [](int32_t x, int32_t y) { return x >= y; }},
      {"NUM", [](int32_t, int32_t) { return true; }},
      {"NAN", [](int32_t, int32_t) { return false; }},
      {"LTU", [](int32_t x, int32_t y) { return x < y; }},
      {"EQU", [](int32_t x, int32_t y) { return x == y; }},
      {"LEU", [](int32_t x, int32_t y) { return x <= y; }},
      {"GTU", [](int32_t x, int32_t y) { return x > y; }},
      {"NEU", [](int32_t x, int32_t y) { return x != y; }},
      {"GEU", [](int32_t x, int32_t y) { return x >= y; }},
      {"T", [](int32_t, int32_t) { return true; }},
      // The flags themselves; no carry is a borrow.
      {"OFF",
       [](int32_t x, int32_t y) { return int64_t{x} - y == static_cast<int32_t>(int64_t{x} - y); }},
      {"LO",
       [](int32_t x, int32_t y) { return static_cast<uint32_t>(x) < static_cast<uint32_t>(y); }},
      {"SFF", [](int32_t x, int32_t y) { return static_cast<int32_t>(int64_t{x} - y) >= 0; }},
      {"LS",
       [](int32_t x, int32_t y) { return static_cast<uint32_t>(x) <= static_cast<uint32_t>(y); }},
      {"HI",
       [](int32_t x, int32_t y) { return static_cast<uint32_t>(x) > static_cast<uint32_t>(y); }},
      {"SFT", [](int32_t x, int32_t y) { return static_cast<int32_t>(int64_t{x} - y) < 0; }},
      {"HS",
       [](int32_t x, int32_t y) { return static_cast<uint32_t>(x) >= static_cast<uint32_t>(y); }},
      {"OFT",
       [](int32_t x, int32_t y) { return int64_t{x} - y != static_cast<int32_t>(int64_t{x} - y); }},
      {"RLE", [](int32_t x, int32_t y) { return static_cast<int32_t>(int64_t{x} - y) <= 0; }},
      {"RGT", [](int32_t x, int32_t y) { return static_cast<int32_t>(int64_t{x} - y) > 0; }}};
  const Tuples t = tuples({u32(), u32(), flags()});
  unsigned turn = 0;
  for (const auto& [name, test] : tests) {
    const std::string bop = std::array{"AND", "OR", "XOR"}[turn++ % 3];
    b.one({"ISETP.NE.AND P3, PT, R10, RZ, PT ;\nIADD RZ.CC, R8, -R9 ;\n",
           fmt::format("CSETP.{}.{} P1, P2, CC, {}P3", name, bop, turn % 2 != 0 ? "!" : ""),
           kPredicate1To0 + "SEL R1, RZ, 0x1, !P2 ;\n"},
          3, 2, t, [=, test = test, negated = turn % 2 != 0](In in, Out o) {
            const bool x = test(static_cast<int32_t>(in[0]), static_cast<int32_t>(in[1]));
            const bool y = (in[2] != 0) != negated;
            const auto combined = [&](bool z) {
              return bop == "AND" ? z && y : bop == "OR" ? z || y : z != y;
            };
            o[0] = combined(x);
            o[1] = combined(!x);
          });
    b.out.back().on_devices = turn % 4 == 0;
  }
}

/// Predicates of 32 lanes: none, one, some, all.
Tuples votes() {
  Tuples t;
  for (const uint32_t mask : {0U, 0xffffffffU, 1U, 0x80000000U, 0x12345678U, 0x7fffffffU})
    for (unsigned lane = 0; lane < 32; ++lane) t.push_back({mask >> lane & 1});
  return t;
}
uint32_t ballot(std::span<const In> in) {
  uint32_t mask = 0;
  for (size_t lane = 0; lane < in.size(); ++lane) mask |= (in[lane][0] != 0 ? 1U : 0U) << lane;
  return mask;
}

void across_lanes(Builder& b) {
  for (const std::string mode : {"ALL", "ANY", "EQ"})
    for (const bool negated : {false, true})
      b.wave({"ISETP.NE.AND P3, PT, R8, RZ, PT ;\n",
              "VOTE." + mode + " R0, P1, " + (negated ? "!P3" : "P3"), "SEL R1, RZ, 0x1, !P1 ;\n"},
             1, 2, votes(), [=](std::span<const In> in, std::span<const Out> o) {
               const uint32_t mask = negated ? ~ballot(in) : ballot(in);
               const bool all = mask == 0xffffffff, none = mask == 0;
               for (const Out lane : o) {
                 lane[0] = mask;
                 lane[1] = mode == "ALL" ? all : mode == "ANY" ? !none : all || none;
               }
             });
  const auto shuffled = [](const std::string& mode, uint32_t lane, uint32_t by, uint32_t limits) {
    const uint32_t clamp = limits & 31, segment = limits >> 8 & 31;
    const uint32_t low = lane & segment, high = low | (clamp & ~segment);
    by &= 31;
    const uint32_t from = mode == "UP"     ? lane - by
                          : mode == "DOWN" ? lane + by
                          : mode == "BFLY" ? lane ^ by
                                           : low | (by & ~segment);
    const bool in_range = mode == "UP" ? static_cast<int32_t>(from) >= static_cast<int32_t>(high)
                                       : static_cast<int32_t>(from) <= static_cast<int32_t>(high);
    return std::pair{in_range ? from : lane, in_range};
  };
  Random next(3);
  for (const std::string mode : {"IDX", "UP", "DOWN", "BFLY"})
    for (unsigned kinds = 0; kinds < 4; ++kinds)
      for (const auto& [by, limits] : {std::pair{1U, mode == "UP" ? 0U : 0x1fU},
                                       {0x13U, mode == "UP" ? 0x1800U : 0x181fU},
                                       {0x4U, 0x1c03U}}) {
        const bool imm_b = (kinds & 1) != 0, imm_c = (kinds & 2) != 0;
        Tuples t;
        for (unsigned lane = 0; lane < 64; ++lane)
          t.push_back({static_cast<uint32_t>(next()),
                       imm_b || lane < 32 ? by : static_cast<uint32_t>(next() % 64),
                       imm_c || lane < 32 ? limits : static_cast<uint32_t>(next() & 0x1f1f)});
        b.wave({"",
                fmt::format("SHFL.{} P1, R0, R8, {}, {}", mode,
                            imm_b ? fmt::format("{:#x}", by) : "R9",
                            imm_c ? fmt::format("{:#x}", limits) : "R10"),
                "SEL R1, RZ, 0x1, !P1 ;\n"},
               3, 2, t, [=](std::span<const In> in, std::span<const Out> o) {
                 for (uint32_t lane = 0; lane < in.size(); ++lane) {
                   const auto [from, in_range] = shuffled(mode, lane, in[lane][1], in[lane][2]);
                   o[lane][0] = in[from][0];
                   o[lane][1] = in_range;
                 }
               });
        b.out.back().on_devices = kinds == 0 || kinds == 3;
      }
}

void special_registers(Builder& b) {
  const auto lanes = [&](const std::string& name, uint32_t (*value)(uint32_t lane)) {
    for (const char* form : {"S2R", "CS2R"})
      b.wave({"", std::string(form) + " R0, SR_" + name, ""}, 1, 1, {{0}},
             [value](std::span<const In> in, std::span<const Out> o) {
               for (uint32_t lane = 0; lane < in.size(); ++lane) o[lane][0] = value(lane);
             });
  };
  lanes("LANEID", [](uint32_t lane) { return lane; });
  lanes("EQMASK", [](uint32_t lane) { return 1U << lane; });
  lanes("LTMASK", [](uint32_t lane) { return (1U << lane) - 1; });
  lanes("LEMASK", [](uint32_t lane) { return (2U << lane) - 1; });
  lanes("GTMASK", [](uint32_t lane) { return ~((2U << lane) - 1); });
  lanes("GEMASK", [](uint32_t lane) { return ~((1U << lane) - 1); });
  // The group's number finds every lane's inputs, so all cases are about it.
  b.one({"", "S2R R0, SR_TID", ""}, 1, 1, tuples({counting(kGroup)}),
        [](In in, Out o) { o[0] = in[0]; });
  b.one({"", "S2R R0, SR_TID.X", ""}, 1, 1, tuples({counting(kGroup)}),
        [](In in, Out o) { o[0] = in[0]; });
  // Fields of machine registers as compilers take them out; clocks do not run backwards.
  b.one({"", "S2R R16, SR_VIRTID", "BFE.U32 R0, R16, 0x608 ;\n"}, 1, 1, tuples({counting(kGroup)}),
        [](In in, Out o) { o[0] = in[0] / 32; });
  b.one({"", "S2R R16, SR_VIRTCFG", "BFE.U32 R0, R16, 0x914 ;\nIMNMX.U32 R0, R0, 0x1, PT ;\n"}, 1,
        1, {{0}}, [](In, Out o) { o[0] = 1; });
  for (const char* clock : {"CLOCKLO", "GLOBALTIMERLO", "CLOCK"})
    b.one({"", fmt::format("CS2R R16, SR_{}", clock),
           fmt::format("CS2R R17, SR_{} ;\nIADD R0, R17, -R16 ;\nSHR.U32 R0, R0, 0x1f ;\n", clock)},
          1, 1, {{0}}, [](In, Out o) { o[0] = 0; });
  b.one({"", "CS2R R16, SR_GLOBALTIMERHI",
         "CS2R R17, SR_GLOBALTIMERHI ;\nIADD R0, R17, -R16 ;\nSHR.U32 R0, R0, 0x1 ;\n"},
        1, 1, {{0}}, [](In, Out o) { o[0] = 0; });
  // Nothing counts, and the stack of a lane may grow down to the beginning of its memory.
  for (const char* zero :
       {"TID.Y", "TID.Z", "CTAID.Y", "CTAID.Z", "PM0", "PM7", "PM_HI0", "PM_HI7", "LMEMHIOFF"})
    b.one({"", std::string("S2R R0, SR_") + zero, ""}, 1, 1, {{0}}, [](In, Out o) { o[0] = 0; });
  for (const auto& [window, constant] : {std::pair("SWINLO", "0x0"), std::pair("LWINLO", "0x4")})
    b.one({"", std::string("S2R R16, SR_") + window,
           std::string("IADD R0, R16, -c[0x0][") + constant + "] ;\n"},
          1, 1, {{0}}, [](In, Out o) { o[0] = 0; });
  for (const char* size : {"SWINSZ", "LWINSZ"})
    b.one({"", std::string("S2R R0, SR_") + size, ""}, 1, 1, {{0}},
          [](In, Out o) { o[0] = 16 << 20; });
  // %envreg0 to %envreg31
  for (const char* offset : {"0x30", "0xac"})
    b.one({"", std::string("MOV R0, c[0x0][") + offset + "]", ""}, 1, 1, {{0}},
          [](In, Out o) { o[0] = 0; });
}

/// A group is two waves with the same votes.
void barrier_results(Builder& b) {
  for (const std::string mode : {"POPC", "AND", "OR"}) {
    const bool counts = mode == "POPC";
    for (const uint32_t mask : {0U, 0xffffffffU, 0x00f01234U}) {
      Tuples t;
      for (unsigned lane = 0; lane < 32; ++lane) t.push_back({mask >> lane & 1});
      const auto set = static_cast<uint32_t>(std::popcount(mask));
      const uint32_t want = counts ? 2 * set : mode == "AND" ? set == 32 : set != 0;
      b.one({"ISETP.NE.AND P3, PT, R8, RZ, PT ;\nBAR.RED." + mode + " 0x0, P3 ;\n",
             counts ? "B2R.RESULT R0" : "B2R.RESULT RZ, P1",
             counts ? "MOV R1, R0 ;\n" : "SEL R0, RZ, 0x1, !P1 ;\nMOV R1, R0 ;\n"},
            1, 2, t, [want](In, Out o) { o[0] = o[1] = want; });
    }
  }
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  addresses(b);
  multiplications(b);
  flag_tests(b);
  across_lanes(b);
  special_registers(b);
  barrier_results(b);
  return std::move(b.out);
}

TEST_CASE("values: addresses, products, flags and lanes") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::misc
