// SASS kernels on the reference engine, against values computed here.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "runtime/isa/sass/sass.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using test::Bench;

namespace {

ir::Module module_of(std::string_view text) {
  const sass::Listing listing = sass::parse(text);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(listing.ok());
  sass::LowerResult r = sass::lower(listing);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  return std::move(r.module);
}

/// Every lane writes R0 (and R1 where `pair`) to out[lane]: R20:R21 = the address.
std::string with_output(const std::string& body) {
  return "S2R R19, SR_TID.X ;\nISCADD R20.CC, R19, c[0x0][0x140], 0x2 ;\n"
         "IADD.X R21, RZ, c[0x0][0x144] ;\n" +
         body + "STG.E [R20], R0 ;\nEXIT ;\n";
}

std::vector<uint32_t> outputs(const std::string& body, const std::vector<uint32_t>& in = {1},
                              uint32_t lanes = 32) {
  const ir::Module m = module_of(with_output(body));
  Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(lanes, 0xdeadbeef));
  bench.arg(out).arg(bench.put(in));
  const LaunchResult r = bench.run(m.kernels[0], 1, lanes);
  CHECK(r.fault_count == 0);
  return bench.get<uint32_t>(out, lanes);
}

constexpr const char* kLoadIn =
    "ISCADD R2.CC, R19, c[0x0][0x148], 0x2 ;\nIADD.X R3, RZ, c[0x0][0x14c] ;\n";

}  // namespace

TEST_CASE("compiled saxpy runs unchanged") {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass/k01_saxpy.sass");
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const ir::Module m = module_of(text.str());
  const uint32_t n = 1000;
  std::vector<float> x(n), y(n);
  for (uint32_t i = 0; i < n; ++i) {
    x[i] = 0.1F * static_cast<float>(i);
    y[i] = 7.0F - static_cast<float>(i) / 3;
  }
  for (const ir::Program& p : m.kernels) {
    Bench bench;
    const uint64_t xs = bench.put(x), ys = bench.put(y);
    bench.arg(n).arg(2.5F).arg(xs).arg(ys);
    const uint32_t groups = p.name == "saxpy" ? 8 : 3;  // the other strides over the grid
    const LaunchResult r = bench.run(p, groups, 128);
    CHECK(r.fault_count == 0);
    const auto result = bench.get<float>(ys, n);
    for (uint32_t i = 0; i < n; ++i) CHECK(result[i] == std::fma(x[i], 2.5F, y[i]));
  }
}

TEST_CASE("integer instructions") {
  const auto multiplied = outputs(std::string(kLoadIn) +
                                      "LDG.E R4, [R2] ;\nMOV32I R5, 0x9e3779b1 ;\n"
                                      "XMAD.MRG R6, R4, R5.H1, RZ ;\nXMAD R7, R4, R5, RZ "
                                      ";\nXMAD.PSL.CBCC R0, R4.H1, R6.H1, R7 ;\n",
                                  std::vector<uint32_t>(32, 0x12345678));
  CHECK(multiplied[5] == 0x12345678U * 0x9e3779b1U);
  // 64-bit subtraction through CC: the upper half of 0 - lane.
  const auto borrowed = outputs("IADD RZ.CC, RZ, -R19 ;\nMOV R4, RZ ;\nIADD.X R0, RZ, -R4 ;\n");
  CHECK(borrowed[0] == 0);
  CHECK(borrowed[9] == 0xffffffff);
  CHECK(outputs("SHR R0, R19, 0x1 ;\n")[7] == 3);
  CHECK(outputs("MOV32I R4, 0x80000000 ;\nSHR R0, R4, 0x28 ;\n")[0] == 0xffffffff);
  CHECK(outputs("MOV32I R4, 0x80000000 ;\nSHR.U32 R0, R4, 0x28 ;\n")[0] == 0);
  CHECK(outputs("SHL.W R0, R19, 0x21 ;\n")[3] == 6);
  CHECK(outputs("IADD3 R0, R19, 0x5, -R19 ;\n")[3] == 5);
  CHECK(outputs("IADD.PO R0, R19, R19 ;\n")[3] == 7);
  CHECK(outputs("ISCADD.PO R0, R19, R19, 0x4 ;\n")[3] == 52);
  CHECK(outputs("LOP.XOR R0, R19, ~R19 ;\n")[3] == 0xffffffff);
  CHECK(outputs("LOP.AND.T P0, R0, R19, RZ ;\nSEL R0, R19, RZ, P0 ;\n")[3] == 3);
  CHECK(outputs("LOP.OR P0, R0, R19, 0x0.INV ;\nSEL R0, R0, R19, !P0 ;\n")[3] == 0xffffffff);
  CHECK(outputs("MOV R0, c[0x0][0x8] ;\n", {1}, 17)[3] == 17);
  CHECK(outputs("IADD32I R0, R19, -0x2 ;\n")[1] == 0xffffffff);
}

TEST_CASE("predicates: both destinations, combination, guards, a guard that overwrites itself") {
  const auto chosen = outputs(
      "MOV R0, RZ ;\nISETP.LT.AND P0, P1, R19, 0x8, PT ;\n@P0 IADD32I R0, R0, 0x1 ;\n"
      "@P1 IADD32I R0, R0, 0x2 ;\nISETP.EQ.OR P2, PT, R19, 0x9, P0 ;\n@P2 IADD32I R0, R0, 0x4 ;\n"
      "@P0 ISETP.NE.AND P0, P1, R19, R19, PT ;\n@P1 IADD32I R0, R0, 0x8 ;\n");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t low = lane < 8;
    const uint32_t expected = (low ? 1 : 2) + (low || lane == 9 ? 4 : 0) + 8;
    CHECK(chosen[lane] == expected);
  }
  CHECK(outputs("ISETP.GT.U32.AND P0, PT, R19, -0x1, PT ;\nSEL R0, R19, 0x5, P0 ;\n")[3] == 5);
}

TEST_CASE("loads and stores of every size, forced alignment, 32-bit and absolute addresses") {
  std::vector<uint32_t> in(160);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = 0x80f1e2c3U + i * 0x01010101U;
  const auto load = [&](const std::string& mods, const std::string& address, unsigned pick) {
    return outputs(std::string(kLoadIn) + "LDG.E" + mods + " R4, " + address + " ;\nMOV R0, R" +
                       std::to_string(4 + pick) + " ;\n",
                   in)[0];
  };
  CHECK(load(".U8", "[R2]", 0) == 0xc3);
  CHECK(load(".S8", "[R2]", 0) == 0xffffffc3);
  CHECK(load(".U16", "[R2+0x3]", 0) == 0x80f1);
  CHECK(load(".S16", "[R2+0x2]", 0) == 0xffff80f1);
  CHECK(load("", "[R2+0x7]", 0) == in[1]);
  CHECK(load(".64", "[R2+0xc]", 1) == in[3]);
  CHECK(load(".128", "[R2+0x1f]", 3) == in[7]);
  // Stores change their own bytes only.
  CHECK(outputs("MOV32I R0, 0xabcdef12 ;\nSTG.E.U8 [R20+0x1], R0 ;\nLDG.E R0, [R20] ;\n")[2] ==
        0xdead12ef);
  CHECK(outputs("MOV32I R0, 0xabcdef12 ;\nSTG.E.S16 [R20+0x3], R0 ;\nLDG.E R0, [R20] ;\n")[2] ==
        0xef12beef);
  // Without .E the sum wraps at 32 bits; the arena lies below 4 GiB.
  CHECK(outputs("MOV32I R2, 0x80000000 ;\nIADD R2, R2, R20 ;\nMOV32I R3, 0x80000000 ;\n"
                "IADD R2, R2, R3 ;\nLDG R0, [R2] ;\n")[4] == 0xdeadbeef);
  const ir::Module absolute = module_of("LDG.E R0, [0x10] ;\nEXIT ;\n");
  Bench bench;
  const LaunchResult r = bench.run(absolute.kernels[0], 1, 1);
  REQUIRE(r.faults.size() == 1);
  CHECK(r.faults[0].kind == FaultKind::null);
  CHECK(r.faults[0].address == 0x10);
}

TEST_CASE("a guarded-off access does not fault") {
  const ir::Module m = module_of(
      "@!PT LDG.E R0, [0x10] ;\nMOV R4, RZ ;\nMOV R5, RZ ;\n"
      "ISETP.NE.AND P0, PT, R4, RZ, PT ;\n@P0 STG.E [R4], R0 ;\nEXIT ;\n");
  Bench bench;
  CHECK(bench.run(m.kernels[0], 1, 32).fault_count == 0);
}

TEST_CASE("a loop may push the same target each round and leave the tokens behind") {
  const std::string round =
      "SSY `(.L_x) ;\nIADD32I R4, R4, 0x1 ;\nISETP.GE.AND P0, PT, R4, R19, PT ;\n";
  const auto left = outputs("MOV R4, RZ ;\nPBK `(.L_end) ;\n.L_loop:\n" + round +
                            "@P0 BRK ;\nBRA `(.L_loop) ;\n.L_x:\nMOV32I R4, 0xbad ;\nBRK ;\n"
                            ".L_end:\nMOV R0, R4 ;\n");
  const auto synced = outputs("MOV R4, RZ ;\n.L_loop:\n" + round +
                              "@!P0 BRA `(.L_loop) ;\nSYNC ;\nMOV32I R4, 0xbad ;\n.L_x:\n"
                              "MOV R0, R4 ;\n");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    CHECK(left[lane] == std::max(lane, 1U));
    CHECK(synced[lane] == std::max(lane, 1U));
  }
}

TEST_CASE("JMP leaves for a function that a relocation names, which returns to the caller") {
  // Odd lanes jump from f to g; both return behind the call.
  sass::Listing listing =
      sass::parse(with_output("MOV R0, R19 ;\nJCAL 0x0 ;\nIADD R0, R0, R19 ;\n"));
  REQUIRE(listing.ok());
  const auto function = [&](const std::string& name, const std::string& text) {
    sass::Kernel f = sass::parse(text).kernels.at(0);
    f.name = name;
    listing.functions.push_back(f);
  };
  function("f",
           "LOP32I.AND R2, R0, 0x1 ;\nISETP.NE.AND P0, PT, R2, RZ, PT ;\n@P0 JMP 0x0 ;\n"
           "IADD32I R0, R0, 0x64 ;\nRET ;\n");
  function("g", "IADD32I R0, R0, 0x3e8 ;\nRET ;\n");
  const auto place = [](const sass::Kernel& k, std::string_view mnemonic) {
    return std::ranges::find_if(
               k.code, [&](const sass::Instruction& i) { return i.form->mnemonic == mnemonic; })
        ->pc;
  };
  listing.kernels[0].calls.push_back({place(listing.kernels[0], "JCAL"), "f"});
  CHECK(sass::lower(listing).diagnostics.size() == 1);  // nothing says where JMP goes
  listing.functions[0].calls.push_back({place(listing.functions[0], "JMP"), "g"});
  const sass::LowerResult r = sass::lower(listing);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(32, 0));
  bench.arg(out);
  CHECK(bench.run(r.module.kernels.at(0), 1, 32).fault_count == 0);
  for (uint32_t lane = 0; lane < 32; ++lane)
    CHECK(bench.get<uint32_t>(out, 32)[lane] == 2 * lane + (lane % 2 == 1 ? 1000 : 100));
}
