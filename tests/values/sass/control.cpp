// Control flow on data that differs from lane to lane, and barriers between two waves. Labels are
// per kernel, so each case has a number of its own in them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::control {

namespace {

std::string label(unsigned n, char part) {
  return fmt::format(".L_{}{}", part, n);
}

Case branching(const std::string& before, const std::string& instruction, const std::string& after,
               unsigned inputs, const Tuples& t, const Oracle& oracle) {
  return make({before, instruction, after}, inputs, 1, t, oracle);
}

const std::string kOdd = "LOP.AND R16, R8, 0x1 ;\nISETP.NE.AND P0, PT, R16, RZ, PT ;\n";

void branches(std::vector<Case>& out) {
  const Tuples t = tuples({u32()});
  unsigned n = 0;
  const auto jump = [](const std::string& name, const std::string& to) {
    return fmt::format("{} `({})", name, to);
  };
  // Odd numbers skip the increment.
  for (const char* name : {"@P0 BRA", "@P0 BRA.LMT"}) {
    const std::string end = label(++n, 'b');
    out.push_back(branching("MOV R0, R8 ;\n" + kOdd, jump(name, end),
                            "IADD R0, R0, 0x1 ;\n" + end + ":\n", 1, t,
                            [](In in, Out o) { o[0] = in[0] + (in[0] & 1 ? 0 : 1); }));
  }
  // A test of the flags decides: negative numbers jump.
  const std::string flags_end = label(++n, 'b');
  out.push_back(branching("MOV R0, R8 ;\nIADD RZ.CC, R8, RZ ;\n", jump("BRA CC.LT,", flags_end),
                          "IADD R0, R0, 0x1 ;\n" + flags_end + ":\n", 1, t,
                          [](In in, Out o) { o[0] = in[0] + (in[0] >> 31 ? 0 : 1); }));
  // Uniform jumps are not taken or taken by all.
  const std::string all_end = label(++n, 'b');
  out.push_back(branching("MOV R0, R8 ;\n", jump("BRA.U", all_end),
                          "IADD R0, R0, 0x1 ;\n" + all_end + ":\n", 1, t,
                          [](In in, Out o) { o[0] = in[0]; }));
  // if (odd) x = 3x; else x = x + 7; both sides meet.
  const auto sides = [&](const std::string& end, const std::string& other) {
    return kOdd + "@!P0 BRA `(" + other + ") ;\nISCADD R0, R8, R8, 0x1 ;\nSYNC ;\n" + other +
           ":\nIADD R0, R8, 0x7 ;\nSYNC ;\n" + end + ":\n";
  };
  const auto either = [](In in, Out o) { o[0] = in[0] & 1 ? 3 * in[0] : in[0] + 7; };
  const std::string join = label(++n, 'j'), other = label(n, 'o');
  out.push_back(branching("", jump("SSY", join), sides(join, other), 1, t, either));
  const std::string join2 = label(++n, 'j'), other2 = label(n, 'o');
  out.push_back(branching("SSY `(" + join2 + ") ;\n" + kOdd + "@!P0 BRA `(" + other2 + ") ;\n" +
                              "ISCADD R0, R8, R8, 0x1 ;\n",
                          "SYNC", other2 + ":\nIADD R0, R8, 0x7 ;\nSYNC ;\n" + join2 + ":\n", 1, t,
                          either));
}

/// Sums k = 1, 2, ... without multiples of 4 until k reaches the lane's number.
void loops(std::vector<Case>& out) {
  const Tuples t = tuples({counting(40)});
  const auto oracle = [](In in, Out o) {
    o[0] = 0;
    for (uint32_t k = 1; k <= in[0]; ++k) o[0] += k % 4 != 0 ? k : 0;
  };
  unsigned n = 100;
  const auto parts = [&] {
    ++n;
    const std::string end = label(n, 'e'), again = label(n, 'a'), top = label(n, 't');
    return std::vector<std::string>{
        "MOV R0, RZ ;\nMOV R16, RZ ;\n",
        "PBK `(" + end + ") ;\n",
        top + ":\n",
        "PCNT `(" + again + ") ;\n",
        "IADD R16, R16, 0x1 ;\nISETP.GT.U32.AND P0, PT, R16, R8, PT ;\n",
        "@P0 BRK ;\n",
        "LOP.AND.Z P1, RZ, R16, 0x3 ;\n",
        "@P1 CONT ;\n",
        "IADD R0, R0, R16 ;\nCONT ;\n" + again + ":\nBRA `(" + top + ") ;\n" + end + ":\n"};
  };
  for (const size_t which : {1, 3, 5, 7}) {
    const std::vector<std::string> lines = parts();
    std::string before, after;
    for (size_t k = 0; k < lines.size(); ++k)
      (k < which ? before : after) += k == which ? "" : lines[k];
    out.push_back(
        branching(before, lines[which].substr(0, lines[which].size() - 3), after, 1, t, oracle));
  }
}

void calls(std::vector<Case>& out) {
  const Tuples t = tuples({u32()});
  const auto twice = [](In in, Out o) { o[0] = in[0] + 10; };
  for (unsigned n = 200; n < 203; ++n) {
    const std::string f = label(n, 'f'), end = label(n, 'e');
    const std::string call = "CAL `(" + f + ")", body = f + ":\nIADD R0, R0, 0x5 ;\n";
    const std::string before = "MOV R0, R8 ;\n" + call + " ;\n", jump = "BRA `(" + end + ") ;\n";
    if (n == 200)
      out.push_back(branching(before, call, jump + body + "RET ;\n" + end + ":\n", 1, t, twice));
    else if (n == 201)
      out.push_back(
          branching(before + call + " ;\n" + jump + body, "RET", end + ":\n", 1, t, twice));
    else  // the return address is pushed without a call
      out.push_back(branching("MOV R0, R8 ;\n", "PRET `(" + end + ")",
                              "IADD R0, R0, 0xa ;\nRET ;\nIADD R0, R0, 0x1 ;\n" + end + ":\n", 1, t,
                              twice));
  }
  // Without counting: the text differs, the path does not.
  const std::string f = label(203, 'f'), end = label(203, 'e'), past = label(204, 'e');
  out.push_back(branching("MOV R0, R8 ;\n", "CAL.NOINC `(" + f + ")",
                          "IADD R0, R0, 0x5 ;\nBRA `(" + end + ") ;\n" + f +
                              ":\nIADD R0, R0, 0x5 ;\nRET ;\n" + end + ":\n",
                          1, t, twice));
  out.push_back(branching("MOV R0, R8 ;\n", "PRET.NOINC `(" + past + ")",
                          "IADD R0, R0, 0xa ;\nRET ;\nIADD R0, R0, 0x1 ;\n" + past + ":\n", 1, t,
                          twice));
  for (const char* nop : {"NOP", "NOP.TRIG", "NOP CC.T"})
    out.push_back(make({"MOV R0, R8 ;\n", nop, ""}, 1, 1, t, [](In in, Out o) { o[0] = in[0]; }));
}

/// Each lane stores a number, waits, and loads that of its partner in the other wave.
void barriers(std::vector<Case>& out) {
  Tuples t;
  for (uint32_t lane = 0; lane < kGroup; ++lane) t.push_back({lane * 0x01030507, lane});
  const std::string
      store = "SHL R16, R9, 0x2 ;\nMOV32I R18, 0x3 ;\nMOV32I R19, 0x40 ;\nSTS [R16], R8 ;\n",
      load = "LOP.XOR R17, R16, 0x80 ;\nLDS R0, [R17] ;\nBAR.SYNC 0x0 ;\n";
  const auto partner = [](In in, Out o) { o[0] = (in[1] ^ 32) * 0x01030507; };
  for (const char* id : {"0x3", "R18"})
    for (const char* count : {"", ", 0x40", ", R19"}) {
      const std::string operands = std::string(id) + count;
      out.push_back(make({store, "BAR.SYNC " + operands, load}, 2, 1, t, partner));
      if (count[0] != 0)  // the second wave does not wait; the first one loads what it stored
        out.push_back(
            make({store + "ISETP.GE.AND P0, PT, R9, 0x20, PT ;\n", "@P0 BAR.ARV " + operands,
                  "@!P0 BAR.SYNC " + operands +
                      " ;\nMOV R0, RZ ;\nLOP.XOR R17, R16, 0x80 ;\n@!P0 LDS R0, [R17] ;\n"
                      "BAR.SYNC 0x0 ;\n"},
                 2, 1, t, [=](In in, Out o) {
                   o[0] = 0;
                   if (in[1] < 32) partner(in, o);
                 }));
      for (const char* mode : {"POPC", "AND", "OR"})
        out.push_back(
            make({store + "ISETP.GE.AND P0, PT, R9, 0x11, PT ;\n",
                  fmt::format("BAR.RED.{} {}, {}P0", mode, operands, mode[0] == 'O' ? "!" : ""),
                  "B2R.RESULT R0 ;\n"},
                 2, 1, t, [mode = mode[0]](In, Out o) {
                   o[0] = mode == 'P' ? kGroup - 0x11 : mode == 'A' ? 0 : 1;
                 }));
    }
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> out;
  branches(out);
  loops(out);
  calls(out);
  barriers(out);
  // Devices have random programs for control flow; drivers take long for much of it in one kernel.
  for (size_t n = 0; n < out.size(); ++n) out[n].on_devices = n % 6 == 0;
  return out;
}

TEST_CASE("values: branches and barriers") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::control
