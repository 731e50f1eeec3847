// The linter of control fields: silent on what the vendor's compiler makes, and one hit a rule.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

namespace {

std::vector<Diagnostic> lint(const std::string& text) {
  const sass::Listing listing = sass::parse(text);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  return sass::lint(listing);
}

/// "LINE: MESSAGE" of the only report; empty when there is none, all of them when there are more.
std::string report(const std::string& text) {
  std::string all;
  for (const Diagnostic& d : lint(text))
    all += (all.empty() ? "" : "\n") + std::to_string(d.line) + ": " +
           (d.warning ? "warning: " : "") + d.message;
  return all;
}
bool clean(const std::string& text) {
  const std::string found = report(text);
  if (!found.empty()) MESSAGE(found);
  return found.empty();
}

}  // namespace

TEST_CASE("the linter has nothing to say about compiled kernels") {
  size_t cubins = 0, instructions = 0;
  const std::string folder = std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cubin") continue;
    CAPTURE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    // Instructions without a row of the table are left out: the linter starts anew behind them.
    const sass::Listing listing = sass::read_cubin(std::as_bytes(std::span(bytes)), 0);
    for (const Diagnostic& d : sass::lint(listing)) FAIL_CHECK(d.message);
    for (const sass::Kernel& k : listing.kernels) instructions += k.code.size();
    ++cubins;
    if (!listing.ok()) continue;
    // The same from text.
    const sass::Listing text = sass::parse(sass::print(listing));
    for (const Diagnostic& d : sass::lint(text)) FAIL_CHECK(d.line << ": " << d.message);
  }
  CHECK(cubins == 55);
  CHECK(instructions > 4500);
}

// What cannot be found does no harm: most of these waits are for sources of loads whose results are
// waited for as well, the others stand before calls whose function uses none of the registers, or
// are about the order of atomics in memory.
TEST_CASE("waits that are taken out of compiled code are found missing") {
  size_t waits = 0, found = 0;
  const std::string folder = std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cubin") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    for (sass::Kernel& k : sass::read_cubin(std::as_bytes(std::span(bytes)), 0).kernels) {
      sass::Listing listing;
      listing.kernels.push_back(std::move(k));
      for (sass::Instruction& i : listing.kernels[0].code)
        for (unsigned sb = 0; sb < 6; ++sb) {
          const sass::Control before = i.control;
          if ((before.wait_mask() >> sb & 1) == 0) continue;
          i.control.set(11, 6, before.wait_mask() & ~(1U << sb));
          ++waits;
          if (!sass::lint(listing).empty()) ++found;
          i.control = before;
        }
    }
  }
  CHECK(waits == 1743);
  CHECK(found >= 554);
}

TEST_CASE("a result must be waited for") {
  CHECK(report("LDG.E R0, [R2] &wr=1 ;\nIADD R4, R0, R1 ;\nEXIT ;\n") ==
        "2: R0 is still a result of LDG (line 1), expected &req=1 before this");
  CHECK(report("LDG.E R0, [R2] &wr=1 ;\nMOV R0, R9 &req=0 ;\nEXIT ;\n") ==
        "2: R0 is still a result of LDG (line 1), expected &req=1 before this");
  CHECK(report("LDG.E.128 R4, [R2] &wr=5 ;\nSTG.E [R8], R7 ;\nEXIT ;\n") ==
        "2: R7 is still a result of LDG (line 1), expected &req=5 before this");
  CHECK(report("LDG.E R0, [R2] ?WAIT2 ;\nIADD R4, R0, R1 ;\nEXIT ;\n") ==
        "2: R0 is still a result of LDG (line 1), expected &wr there and a wait on it");
  CHECK(report("SHFL.IDX P2, R0, R1, R2, R3 &wr=0 ;\n@P2 MOV R5, R6 ;\nEXIT ;\n") ==
        "2: P2 is still a result of SHFL (line 1), expected &req=0 before this");
  CHECK(report("ATOM.E.ADD.U64 R4, [R2], R6 &wr=0 ;\nMOV R1, R5 ;\nEXIT ;\n") ==
        "2: R5 is still a result of ATOM (line 1), expected &req=0 before this");
  CHECK(clean("LDG.E R0, [R2] &wr=1 ;\nIADD R4, R0, R1 &req=1 ;\nIADD R4, R0, R1 ;\nEXIT ;\n"));
  // The last of a batch signals for all of it.
  CHECK(clean("LDG.E R0, [R2] ?WAIT1 ;\nLDG.E R1, [R2+0x4] &wr=0 ;\nIADD R4, R0, R1 &req=0 ;\n"));
  CHECK(report("LDG.E R0, [R2] &wr=0 ;\nLDG.E R1, [R2+0x4] ;\nIADD R4, R1, R1 &req=0 ;\n") ==
        "3: R1 is still a result of LDG (line 2), expected &wr there and a wait on it");
  CHECK(clean("LDG.E RZ, [R2] &wr=0 ;\nIADD R4, RZ, RZ ;\nEXIT ;\n"));
}

TEST_CASE("every register of a wide result and of a wide source is followed") {
  const std::string waits = " &wr=0 ;\nMOV R9, ";
  for (const auto& [wide, last] :
       std::vector<std::pair<std::string, unsigned>>{{"I2F.F64.S32 R4, R2", 5},
                                                     {"I2F.F32.U64 R4, R2", 4},
                                                     {"F2F.F64.F32 R4, R2", 5},
                                                     {"F2F.F32.F64 R4, R2", 4},
                                                     {"F2I.S64.F32.TRUNC R4, R2", 5},
                                                     {"F2I.U32.F64.TRUNC R4, R2", 4},
                                                     {"LDG.E.64 R4, [R2]", 5},
                                                     {"LDS.U.128 R4, [R2]", 7},
                                                     {"LDC.64 R4, c[0x0][R2]", 5},
                                                     {"ATOMS.CAS.64 R4, [R2], R12, R14", 5},
                                                     {"ATOM.E.EXCH.U64 R4, [R2], R12", 5},
                                                     {"S2R R4, SR_TID.X", 4},
                                                     {"POPC R4, R2", 4},
                                                     {"SHFL.IDX PT, R4, R2, R12, R14", 4}}) {
    const std::string text = wide;  // clang 14 lets no lambda see a structured binding
    CAPTURE(text);
    for (unsigned r = 4; r < 8; ++r) {
      const std::string found = report(text + waits + "R" + std::to_string(r) + " ;\nEXIT ;\n");
      CHECK(found.empty() == (r > last));
      if (r <= last) CHECK(found.find("R" + std::to_string(r) + " is still a result of") == 3);
    }
  }
  const auto overwrites = [](const std::string& text, unsigned r) {
    return report(text + " &rd=1 ;\nMOV R" + std::to_string(r) + ", R20 ;\nEXIT ;\n");
  };
  CHECK(overwrites("F2F.F32.F64 R8, R2", 3).find("R3 is still a source of F2F") == 3);
  CHECK(overwrites("I2F.F32.U64 R8, R2", 3).find("R3 is still a source of I2F") == 3);
  CHECK(overwrites("I2F.F32.U32 R8, R2", 3).empty());
  CHECK(overwrites("F2I.S64.F32.TRUNC R8, R2", 3).empty());
  CHECK(overwrites("STG.E.128 [R2], R12", 15).find("R15 is still a source of STG") == 3);
  CHECK(overwrites("STG.E [R2], R12", 3).find("R3 is still a source of STG") == 3);
  CHECK(overwrites("STG [R2], R12", 3).empty());
}

TEST_CASE("sources must be read before they are overwritten") {
  CHECK(report("STG.E [R2], R4 &rd=3 ;\nMOV R3, R9 ;\nEXIT ;\n") ==
        "2: R3 is still a source of STG (line 1), expected &req=3 before this");
  CHECK(report("STG.E.64 [R2], R4 ?WAIT1 ;\nMOV R5, R9 ;\nEXIT ;\n") ==
        "2: R5 is still a source of STG (line 1), expected &rd there and a wait on it");
  CHECK(report("ATOM.E.CAS.64 R0, [R2], R4, R6 &rd=0 ;\nMOV R7, R9 ;\nEXIT ;\n") ==
        "2: R7 is still a source of ATOM (line 1), expected &req=0 before this");
  CHECK(clean("STG.E [R2], R4 &rd=3 ;\nMOV R4, R9 &req={1,3} ;\nEXIT ;\n"));
  CHECK(clean("LDG.E R0, [R2] &wr=1 ;\nMOV R2, R0 &req=1 ;\nEXIT ;\n"));
  CHECK(clean("@P0 STG.E [R2], R4 ?WAIT1 ;\nISETP.EQ.AND P0, PT, R2, R4, PT ;\nEXIT ;\n"));
  CHECK(clean("STS [R2], R4 ?WAIT1 ;\nBAR.SYNC 0x0 ;\nMOV R4, R9 ;\nEXIT ;\n"));
  // Who has a scoreboard for its sources is waited for, except by what follows a load.
  CHECK(report("STS [R2], R4 &rd=1 ;\nBAR.SYNC 0x0 ;\nMOV R4, R9 ;\nEXIT ;\n") ==
        "3: R4 is still a source of STS (line 1), expected &req=1 before this");
  CHECK(report("STG.E [R2], R4 &rd=1 ;\nLDS R4, [RZ] &wr=0 ;\nEXIT ;\n") ==
        "2: R4 is still a source of STG (line 1), expected &req=1 before this");
  CHECK(report("DFMA R8, R4, R4, R6 &rd=0 &wr=1 ;\nDMUL R4, R2, R2 &wr=2 ;\nEXIT ;\n") ==
        "2: R4 is still a source of DFMA (line 1), expected &req=0 before this");
  CHECK(clean("DFMA R8, R4, R4, R6 &wr=1 ;\nDMUL R4, R2, R2 &wr=2 ;\nEXIT ;\n"));
  CHECK(clean("LDG.E R0, [R4] &rd=0 &wr=1 ;\nLDG.E R4, [R8] &wr=2 ;\nEXIT ;\n"));
}

TEST_CASE("DEPBAR waits as well, down to a count or for a set") {
  const std::string loads =
      "LDG.E R0, [R4] &wr=0 ;\nLDG.E R1, [R4+0x4] &wr=0 ;\nLDG.E R2, [R4+0x8] &wr=1 ;\n";
  CHECK(clean(loads + "DEPBAR.LE SB0, 0x1 ;\nMOV R9, R0 ;\nEXIT ;\n"));
  CHECK(report(loads + "DEPBAR.LE SB0, 0x1 ;\nMOV R9, R1 ;\nEXIT ;\n") ==
        "5: R1 is still a result of LDG (line 2), expected &req=0 before this");
  CHECK(clean(loads + "DEPBAR {1,0} ;\nMOV R9, R1 ;\nMOV R9, R2 ;\nEXIT ;\n"));
}

TEST_CASE("what is under way on one of the paths to a place counts there") {
  const auto branches = [](const char* first, const char* second) {
    return "LDG.E R0, [R4] &wr=0 ;\n@P0 BRA `(.L_1) ;\nMOV R8, R9 " + std::string(first) +
           " ;\nBRA `(.L_2) ;\n.L_1:\nMOV R8, R9 " + second + " ;\n.L_2:\nMOV R7, R0 ;\nEXIT ;\n";
  };
  CHECK(report(branches("", "")) ==
        "8: R0 is still a result of LDG (line 1), expected &req=0 before this");
  CHECK(clean(branches("&req=0", "&req=0")));
  const std::string forgotten =
      "8: R0 is still a result of LDG (line 1), expected &req=0 before this";
  CHECK(report(branches("&req=0", "")) == forgotten);
  CHECK(report(branches("", "&req=0")) == forgotten);
  // Round a loop: the second turn meets what the first left.
  const std::string turn = ".L_0:\nMOV R4, R6";
  const std::string rest = " ;\nSTG.E [R2], R4 &rd=0 ;\n@P0 BRA `(.L_0) ;\nEXIT ;\n";
  CHECK(report(turn + rest) ==
        "2: R4 is still a source of STG (line 3), expected &req=0 before this");
  CHECK(clean(turn + " &req=0" + rest));
  CHECK(report(".L_0:\nDADD R4, R4, R6 &wr=0 ;\n@P0 BRA `(.L_0) ;\nEXIT ;\n") ==
        "2: R4 is still a result of DADD (line 2), expected &req=0 before this");
  CHECK(report("STG.E [R2], R4 &rd=0 ;\n.L_0:\nMOV R4, R6 ;\n@P0 BRA `(.L_0) ;\nEXIT ;\n") ==
        "3: R4 is still a source of STG (line 1), expected &req=0 before this");
  CHECK(report("STG.E [R2], R4 &rd=0 ;\n.L_0:\nNOP ;\n@P0 BRA `(.L_0) ;\nMOV R4, R6 ;\nEXIT ;\n") ==
        "5: R4 is still a source of STG (line 1), expected &req=0 before this");
  // Lanes of opposite guards do not meet.
  CHECK(clean("@P0 LDG.E R0, [R4] &wr=0 ;\n@!P0 MOV R0, R1 ;\nEXIT ;\n"));
}

TEST_CASE("ways along the branch stack and through calls are followed") {
  const std::string forgotten =
      ": R0 is still a result of LDG (line 2), expected &req=0 before this";
  const std::string load = "LDG.E R0, [R4] &wr=0 ;\n";
  CHECK(report("SSY `(.L_1) ;\n" + load + "@P0 SYNC ;\nSYNC ;\n.L_1:\nMOV R1, R0 ;\n") ==
        "6" + forgotten);
  CHECK(report("PBK `(.L_1) ;\n" + load + "@P0 BRK ;\nEXIT ;\n.L_1:\nMOV R1, R0 ;\n") ==
        "6" + forgotten);
  const auto call = [&](const char* in_function, const char* behind) {
    return "NOP ?WAIT1 ;\n" + load + "CAL `(.L_f) ;\nMOV R1, R0" + behind +
           " ;\nEXIT ;\n.L_f:\nMOV R3, R2" + in_function + " ;\nRET ;\n";
  };
  CHECK(report(call("", "")) == "4" + forgotten);
  CHECK(clean(call(" &req=0", "")));
  CHECK(clean(call("", " &req=0")));
  // The other call of the function does not lead back here.
  CHECK(clean("CAL `(.L_f) ;\nMOV R1, R0 ;\n" + load +
              "CAL `(.L_f) ;\nEXIT ;\n.L_f:\nMOV R3, R2 ;\nRET ;\n"));
  // What calls itself ends, too.
  CHECK(
      clean("CAL `(.L_f) ;\nEXIT ;\n.L_f:\nMOV R3, R2 ?WAIT1 ;\n"
            "@P0 BRA `(.L_g) ;\nCAL `(.L_f) ;\n.L_g:\nRET ;\n"));
}

TEST_CASE("schedules and scoreboards that the document does not have are errors") {
  CHECK(report("CCTL.I.IVALL ?WAIT4 ;\nEXIT ;\n") ==
        "1: CCTL.I.IVALL needs a schedule of at least ?WAIT5, found 4");
  CHECK(report("CCTL.C.IVALL ?DUAL ;\nEXIT ;\n") ==
        "1: CCTL.C.IVALL needs a schedule of at least ?WAIT5, found 0");
  CHECK(report("CCTLL.CRS.WBALL ?YIELD3 ;\nEXIT ;\n") ==
        "1: CCTLL.CRS.WBALL needs a schedule of at least ?WAIT5, found 3");
  CHECK(clean("CCTL.C.IVALL ?WAIT5 ;\nCCTL.I.IVALL ?YIELD5 ;\nCCTLL.CRS.WBALL ?WAIT15 ;\n"));
  CHECK(clean("CCTL.IVALL ?WAIT1 ;\nCCTLL.IVALL ?WAIT1 ;\n"));
  for (const char* text : {"STG.E [R2], R0 &wr=0", "CCTL.E.PF1 [R2] &wr=0", "CCTLL.IV [R2] &wr=0"})
    CHECK(report(text + std::string(" ;\n")).find("gives it no &wr") != std::string::npos);
  CHECK(report("LDG.E R0, [R2] ;\nMOV R1, R0 ;\n") ==
        "1: warning: no control fields are given: waits and schedules were not judged");
}
