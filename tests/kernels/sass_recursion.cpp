// Functions that call themselves, and calls too deep to be copied for each caller.
#include <fmt/format.h>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Buffer;

namespace {

uint32_t fibonacci(uint32_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/// R4 = lane; calls f0 and stores R4.
std::string kernel_around(const std::string& functions) {
  return "k:\n"
         "S2R R0, SR_TID.X ;\nMOV R4, R0 ;\nSHL R2, R0, 0x2 ;\n"
         "IADD R2.CC, R2, c[0x0][0x140] ;\nIADD.X R3, RZ, c[0x0][0x144] ;\n"
         "CAL `(.L_f0) ;\nSTG.E [R2], R4 ;\nEXIT ;\n" +
         functions;
}

lanewise::Kernel load(const std::string& functions) {
  return device().load_text(kernel_around(functions), lanewise::Isa::sass, "sm_50").kernel("k");
}

}  // namespace

TEST_CASE("recursion: a compiled function that calls itself twice") {
  const lanewise::Kernel k = device().load_file(corpus("sass/k25_calls.cubin")).kernel("recfib");
  std::vector<int32_t> in(64);
  std::vector<int32_t> want(64);
  for (uint32_t i = 0; i < 64; ++i) {
    in[i] = static_cast<int32_t>(i * 7 % 13);  // neighbours go to different depths
    want[i] = static_cast<int32_t>(fibonacci(static_cast<uint32_t>(in[i])));
  }
  Buffer a = device().buffer(in), out = device().buffer(std::vector<int32_t>(64, -1));
  k.launch({.grid = {1}, .block = {64}}, a, out).check();
  check_equal(out.read<int32_t>(), want);
}

TEST_CASE("recursion: two functions that call each other, as deep as the lane's number") {
  // f0 adds 1000 and f1 adds 1 on the way down; R5 counts down from the lane's number.
  const lanewise::Kernel k = load(
      ".L_f0:\nISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 RET ;\nIADD32I R0, R0, -0x1 ;\n"
      "IADD32I R4, R4, 0x3e8 ;\nCAL `(.L_f1) ;\nRET ;\n"
      ".L_f1:\nISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 RET ;\nIADD32I R0, R0, -0x1 ;\n"
      "IADD32I R4, R4, 0x1 ;\nCAL `(.L_f0) ;\nIADD32I R4, R4, 0x20000 ;\nRET ;\n");
  std::vector<uint32_t> want(64);
  for (uint32_t i = 0; i < 64; ++i) want[i] = i + (i + 1) / 2 * 1000 + i / 2 + i / 2 * 0x20000;
  Buffer out = device().buffer(std::vector<uint32_t>(64, 7));
  k.launch({.grid = {1}, .block = {64}}, out).check();
  check_equal(out.read<uint32_t>(), want);
}

TEST_CASE("recursion: one without an end is a stack overflow") {
  const lanewise::Kernel k = load(".L_f0:\nIADD32I R4, R4, 0x1 ;\nCAL `(.L_f0) ;\nRET ;\n");
  Buffer out = device().buffer(std::vector<uint32_t>(2, 7));
  const lanewise::Result result = k.launch({.grid = {1}, .block = {2}}, out);
  CHECK(result.fault_count == 2);
  REQUIRE(!result.faults.empty());
  CHECK(result.faults[0].kind == lanewise::FaultKind::stack_overflow);
}

TEST_CASE("a fault in a function of SASS names it, and who calls it") {
  const lanewise::Kernel k = load(
      ".L_f0:\nCAL `(.L_f1) ;\nRET ;\n"
      ".L_f1:\nMOV R6, RZ ;\nMOV R7, RZ ;\nLDG.E R4, [R6] ;\nRET ;\n");
  Buffer out = device().buffer(std::vector<uint32_t>(1, 7));
  const lanewise::Result result = k.launch({.grid = {1}, .block = {1}}, out);
  REQUIRE(result.faults.size() == 1);
  const lanewise::FaultReport& f = result.faults[0];
  CHECK(f.kernel == "k");
  CHECK(f.function == ".L_f1");
  CHECK(f.called_from == ".L_f0");
  const std::string text = lanewise::format(f);
  CAPTURE(text);
  CHECK(text.find("at .L_f1+0x18: LDG.E R4, [R6]") != std::string::npos);
  CHECK(text.find("called from .L_f0, in kernel k\n") != std::string::npos);
}

TEST_CASE("recursion: forty functions, each of which calls the next twice") {
  std::string text;
  for (int n = 0; n < 40; ++n) {
    text += fmt::format(".L_f{}:\nIADD32I R4, R4, 0x1 ;\n", n);
    // The second call only in the first four, or there would be 2^40.
    if (n + 1 < 40) text += fmt::format("CAL `(.L_f{}) ;\n", n + 1);
    if (n < 4) text += fmt::format("CAL `(.L_f{}) ;\n", n + 1);
    text += "RET ;\n";
  }
  uint32_t added = 36;
  for (int n = 0; n < 4; ++n) added = 1 + 2 * added;
  const lanewise::Kernel k = load(text);
  std::vector<uint32_t> want(32);
  for (uint32_t i = 0; i < 32; ++i) want[i] = i + added;
  Buffer out = device().buffer(std::vector<uint32_t>(32, 7));
  k.launch({.grid = {1}, .block = {32}}, out).check();
  check_equal(out.read<uint32_t>(), want);
}
