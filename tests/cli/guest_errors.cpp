// Whatever the guest does wrong ends in the documented exit code and one clear message, and the
// buffers that were fine come back.
#include <fmt/format.h>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

// Every lane stores its index to `good`; lane 3 also reads and writes through `bad`.
const std::string kPoke = kHeader + R"(
.visible .entry poke(.param .u64 bad, .param .u64 good)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [bad];
  ld.param.u64 %rd2, [good];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 3;
  @%p1 ld.global.u32 %r2, [%rd1];
  @%p1 st.global.u32 [%rd1+4], %r1;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r1;
  ret;
}
)";

void expect_fault(const std::string& address, const std::string& kind) {
  CAPTURE(address);
  const std::string file = write("poke.ptx", kPoke), out = scratch() + "/good.bin";
  std::filesystem::remove(out);
  const Output o = run(
      fmt::format("{} --block 32 --json --arg u64:{} --arg out:{}:u32[32]", file, address, out));
  CHECK(o.code == 1);
  CHECK(contains(o.out, "\"kind\": \"" + kind + "\""));
  CHECK(contains(o.out, "\"lane\": 3"));
  CHECK(contains(o.out, "ld.global.u32"));
  CHECK(contains(o.out, "\"fault_count\": 1"));
  CHECK(contains(o.err, "fault: "));
  CHECK(contains(o.err, "lane 3 of wave 0"));
  const auto good = read_bin<uint32_t>(out);
  REQUIRE(good.size() == 32);
  for (uint32_t i = 0; i < 32; ++i) CHECK(good[i] == i);
}

}  // namespace

TEST_CASE("pointers out of range: null, below, above, wrapping, 4 GiB and beyond") {
  expect_fault("0", "null");
  expect_fault("0xfffc", "null");
  expect_fault("0x10000", "out_of_range");
  expect_fault("0x0ffffff8", "out_of_range");
  expect_fault("0x7ffffffc", "out_of_range");
  expect_fault("0xfffffffffffffffc", "out_of_range");
  expect_fault("0xffffffff10000000", "out_of_range");
  expect_fault("0x100000000", "out_of_range");
  expect_fault("0x110000000", "out_of_range");
  expect_fault("0x8000000010000000", "out_of_range");
}

TEST_CASE("a misaligned pointer traps by default and is forced by policy") {
  const std::string file = write("poke.ptx", kPoke), out = scratch() + "/good.bin";
  const std::string arguments =
      file + " --block 4 --arg u64:0x10000002 --arg out:" + out + ":u32[32]";
  const Output trapped = run(arguments);
  CHECK(trapped.code == 1);
  CHECK(contains(trapped.err, "misaligned"));
  // The first buffer of a run lies at 0x10000000, so the forced access is inside it.
  const Output forced = run(arguments + " --policy ptx.align=force");
  CHECK(forced.code == 0);
  CHECK(forced.err.empty());
}

TEST_CASE("an access one byte past a buffer is found, unless one asks for less") {
  const std::string file = write("poke.ptx", kPoke), out = scratch() + "/good.bin";
  const std::string arguments =
      file + " --block 32 --arg u64:0x10000000 --arg out:" + out + ":u8[127]";
  CHECK(run(arguments + " --memcheck arena").code == 0);
  CHECK(run(arguments + " --memcheck alloc").code == 1);
  const Output o = run(arguments);
  CHECK(o.code == 1);
  CHECK(contains(o.err, "lane 31 of wave 0"));
  CHECK(contains(o.err, "good.bin"));
}

TEST_CASE("what --memcheck off lets through ends in words, not in a signal") {
  const std::string file = write("poke.ptx", kPoke), out = scratch() + "/good.bin";
  const Output o = run(
      file + " --block 4 --memcheck off --arg u64:0x7f0000000000 --arg out:" + out + ":u32[32]");
  // Where the device is this processor the address is nobody's; others may drop the access.
  CHECK((o.code == 0 || o.code == 1));
  if (o.code == 1) CHECK(contains(o.err, "--memcheck off") != contains(o.err, "fault: "));
}

TEST_CASE("a driver that crashes is reported in words") {
  const std::string manifest = write(
      "crashing.json", fmt::format("{{\"file_format_version\": \"1.0.0\", \"ICD\": "
                                   "{{\"library_path\": \"{}\", \"api_version\": \"1.3.0\"}}}}",
                                   LANEWISE_CRASHING_DRIVER));
  const char* const names[] = {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"};
  std::string before[2];
  for (int i = 0; i < 2; ++i) {
    const char* value = std::getenv(names[i]);
    before[i] = value != nullptr ? value : "";
    setenv(names[i], manifest.c_str(), 1);
  }
  const Output o = program("devices");
  for (int i = 0; i < 2; ++i)
    before[i].empty() ? unsetenv(names[i]) : setenv(names[i], before[i].c_str(), 1);
  CHECK(o.code == 3);
  CHECK(contains(o.err, "the Vulkan driver crashed"));
}

TEST_CASE("an endless loop ends with the step budget") {
  const std::string file = write("endless.ptx", kHeader + R"(
.visible .entry endless(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 5;
  st.global.u32 [%rd1], %r1;
L:
  bra L;
}
)");
  const std::string out = scratch() + "/p.bin";
  const Output o =
      run(file + " --grid 4 --block 64 --policy steps=100000 --arg out:" + out + ":u32[1]");
  CHECK(o.code == 4);
  CHECK(contains(o.err, "step budget"));
  CHECK(contains(o.err, "bra"));
  CHECK(read_bin<uint32_t>(out) == std::vector<uint32_t>{5});
}

TEST_CASE("a missing barrier partner is reported, not waited for") {
  const std::string file = write("barrier.ptx", kHeader + R"(
.visible .entry lonely(.param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra A;
  bar.sync 1;
  bra B;
A:
  bar.sync 2;
B:
  ret;
}
)");
  const std::string out = scratch() + "/p.bin";
  const Output o = run(file + " --block 64 --arg out:" + out + ":u32[64]");
  CHECK(o.code == 1);
  CHECK(contains(o.err, "barrier divergence"));
  CHECK(contains(o.err, "bar.sync"));
  const auto stored = read_bin<uint32_t>(out);
  REQUIRE(stored.size() == 64);
  CHECK(stored[63] == 63);
}

TEST_CASE("threads that left early do not hold up a barrier") {
  const std::string file = write("early.ptx", kHeader + R"(
.visible .entry early(.param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 40;
  @%p1 ret;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.s32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  bar.sync 0;
  xor.b32 %r2, %r2, 4;
  ld.shared.u32 %r3, [%r2];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)");
  const std::string out = scratch() + "/p.bin";
  const Output o = run(file + " --block 64 --arg out:" + out + ":u32[64]");
  CHECK(o.code == 0);
  CHECK(o.err.empty());
  const auto stored = read_bin<uint32_t>(out);
  REQUIRE(stored.size() == 64);
  for (uint32_t i = 0; i < 40; ++i) CHECK(stored[i] == (i ^ 1));
}

TEST_CASE("a kernel of 2,000 instructions runs and is right") {
  std::string body;
  uint32_t want = 7;
  for (uint32_t i = 0; i < 667; ++i) {
    body += fmt::format(
        "  mul.lo.s32 %r1, %r1, {};\n  xor.b32 %r1, %r1, %r2;\n  add.s32 %r1, %r1, {};\n",
        2 * i + 3, i);
    want = ((want * (2 * i + 3)) ^ 5) + i;
  }
  const std::string file = write("long.ptx", kHeader + R"(
.visible .entry long_one(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 7;
  mov.u32 %r2, %ntid.x;
)" + body + R"(
  st.global.u32 [%rd1], %r1;
  ret;
}
)");
  const std::string out = scratch() + "/p.bin";
  const Output o = run(file + " --block 5 --arg out:" + out + ":u32[1]");
  CHECK(o.code == 0);
  CHECK(read_bin<uint32_t>(out) == std::vector<uint32_t>{want});
}

TEST_CASE("zero-size grids and blocks, and blocks that are too large") {
  const std::string file = write("poke.ptx", kPoke);
  const std::string arguments = file + " --arg u64:0x10000000 --arg zero:u32[32]";
  for (const char* shape :
       {"--grid 0", "--block 0", "--grid 1,0", "--block 2048", "--block 33,32"}) {
    CAPTURE(shape);
    const Output o = run(arguments + " " + shape);
    CHECK(o.code == 2);
    CHECK(o.err.starts_with("lanewise: error: "));
    CHECK(lines_of(o.err) == 1);
  }
}
