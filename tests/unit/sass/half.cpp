// Half precision with operands in a constant bank: singles that are halves as well.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/isa/sass/sass.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using test::Bench;

namespace {

// 1.5, -2, the least subnormal half, 0.1 (no half), infinity, NaN, 65504, 2^-15 * 1.5, 65536.
constexpr std::array<uint32_t, 9> kSingles = {0x3fc00000, 0xc0000000, 0x33800000,
                                              0x3dcccccd, 0x7f800000, 0x7fc00001,
                                              0x477fe000, 0x38400000, 0x47800000};

/// One instruction whose result or predicates are in R0, with the singles as bank 2.
sass::LowerResult lower(const std::string& instruction) {
  sass::Listing listing = sass::parse(
      "MOV R20, c[0x0][0x140] ;\nMOV R21, c[0x0][0x144] ;\nMOV32I R4, 0xc4003c00 ;\nMOV32I R5, "
      "0x38004000 ;\n" +
          instruction +
          " ;\nSEL R6, RZ, 0x1, !P1 ;\nSEL R7, RZ, 0x2, !P2 ;\n"
          "STG.E [R20], R0 ;\nIADD R6, R6, R7 ;\nSTG.E [R20+0x4], R6 ;\nEXIT ;\n",
      53);
  REQUIRE(listing.ok());
  sass::ConstantBank bank;
  bank.number = 2;
  bank.bytes.resize(sizeof kSingles);
  std::memcpy(bank.bytes.data(), kSingles.data(), sizeof kSingles);
  bank.size = sizeof kSingles;
  bank.symbol = "numbers";
  listing.kernels[0].banks.push_back(bank);
  return sass::lower(listing);
}

struct Results {
  uint32_t word, predicates;
};
Results run(const std::string& instruction) {
  const sass::LowerResult r = lower(instruction);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  REQUIRE(!r.module.kernels.empty());
  Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(2, 0));
  bench.arg(out);
  CHECK(bench.run(r.module.kernels[0], 1, 1).fault_count == 0);
  const auto got = bench.get<uint32_t>(out, 2);
  return {got[0], got[1]};
}

}  // namespace

TEST_CASE("half precision takes the singles of a constant bank that are halves") {
  // R4 = {1, -4}, R5 = {2, 0.5}
  CHECK(run("HADD2 R0, R4, c[0x2][0x0]").word == 0xc1004100);
  CHECK(run("HADD2 R0, R4, -c[0x2][0x0]").word == 0xc580b800);
  CHECK(run("HADD2 R0, R5, |c[0x2][0x4]|").word == 0x41004400);
  CHECK(run("HADD2 R0, R4, -|c[0x2][0x4]|").word == 0xc600bc00);
  CHECK(run("HMUL2 R0, R4, c[0x2][0x4]").word == 0x4800c000);
  CHECK(run("HMUL2 R0, R5, c[0x2][0x8]").word == 0x00000002);  // half of it: to even
  CHECK(run("HMUL2.F32 R0, R5.H1_H1, c[0x2][0x8]").word == 0x33000000);
  CHECK(run("HFMA2 R0, R4, c[0x2][0x0], R5").word == 0xc5804300);
  CHECK(run("HFMA2 R0, R4, R5, -c[0x2][0x0]").word == 0xc3003800);
  CHECK(run("HADD2 R0, RZ, c[0x2][0x18]").word == 0x7bff7bff);
  CHECK(run("HADD2 R0, RZ, c[0x2][0x1c]").word == 0x03000300);
  CHECK(run("HADD2 R0, R4, c[0x2][0x10]").word == 0x7c007c00);
  CHECK(run("HADD2 R0, R4, c[0x2][0x14]").word == 0x7fff7fff);
  CHECK(run("HSET2.BF.LT.AND R0, R4, c[0x2][0x0], PT").word == 0x3c003c00);
  CHECK(run("HSET2.GT.AND R0, R4.H1_H1, -c[0x2][0x0], PT").word == 0);
  CHECK(run("HSETP2.GT.AND P1, P2, R5, c[0x2][0x0], PT").predicates == 1);
  CHECK(run("HSETP2.LT.AND P1, P2, R5, |c[0x2][0x4]|, PT").predicates == 2);
}

TEST_CASE("half precision refuses singles that are no halves, and constants that a launch brings") {
  const auto message = [](const std::string& instruction) {
    const auto r = lower(instruction);
    REQUIRE(!r.diagnostics.empty());
    return r.diagnostics[0].message;
  };
  for (const char* place : {"0xc", "0x20"}) {
    CAPTURE(place);
    CHECK(message("HADD2 R0, R4, c[0x2][" + std::string(place) + "]").find("not a half") !=
          std::string::npos);
  }
  CHECK(message("HADD2 R0, R4, c[0x0][0x140]").find("before the launch") != std::string::npos);
  CHECK(message("HADD2 R0, R4, c[0x2][0x24]").find("before the launch") != std::string::npos);
}
