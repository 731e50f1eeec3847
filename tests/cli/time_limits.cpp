// --timeout holds whatever the program is waiting for, a driver's compiler too.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// A kernel that no device has compiled within a second: no software device fuses.
std::string slow_to_compile(const std::string& name, unsigned operations) {
  std::string text = kHeader +
                     ".visible .entry slow(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
                     "  .reg .f64 %f<3>;\n  ld.param.u64 %rd1, [p];\n"
                     "  ld.global.f64 %f1, [%rd1];\n  mov.f64 %f2, 0d3FF8000000000000;\n";
  for (unsigned i = 0; i < operations; ++i) text += "  fma.rn.f64 %f1, %f2, %f1, %f2;\n";
  return write(name, text + "  st.global.f64 [%rd1], %f1;\n  ret;\n}\n");
}

/// What a busy machine takes to start the program.
constexpr double kStart = 1.5;

struct Timed : Output {
  double seconds = 0;
};
Timed timed(const std::string& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Timed t{run(arguments)};
  t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return t;
}

}  // namespace

TEST_CASE("a time limit ends the program while the kernel is being compiled") {
  const bool compiled = std::strcmp(device(), "reference") != 0;
  const std::string file = slow_to_compile("slow.ptx", 1200);
  const std::string in = write("slow_in.bin", std::string(8, '\0'));
  const Timed o = timed(file + " --timeout 1 --arg inout:" + in);
  const double seconds = o.seconds;
  CAPTURE(o.err);
  if (!compiled) {
    CHECK(o.code == 0);
    CHECK(slurp(in) != std::string(8, '\0'));
    return;
  }
  CHECK(o.code == 4);
  CHECK(seconds < 2 + kStart);
  CHECK(o.out.empty());
  CHECK(lines_of(o.err) == 1);
  CHECK(contains(o.err, "lanewise: error: "));
  CHECK(contains(o.err, "compiling kernel 'slow' when its ") !=
        contains(o.err, "kernel 'slow' was still being translated when its "));
  CHECK(contains(o.err, "(--timeout 1)"));
  CHECK(slurp(in) == std::string(8, '\0'));
}

TEST_CASE("without a step budget a time limit still ends an endless loop") {
  const std::string file = write("unlimited.ptx", kHeader + R"(
.visible .entry endless()
{
L:
  bra L;
}
)");
  const Output limited = run(file + " --max-steps 5000");
  CHECK(limited.code == 4);
  CHECK(contains(limited.err, "step budget used up"));
  const Output o = run(file + " --max-steps unlimited --timeout 1");
  CAPTURE(o.err);
  CHECK(o.code == 4);
  // llvmpipe of Mesa 22.3 leaves loops by itself.
  const bool cut = contains(o.err, "step budget of the device");
  if (cut) CHECK(contains(device(), "llvmpipe"));
  if (!cut) CHECK(contains(o.err, "(--timeout 1)"));
  const Output wrong = run(file + " --max-steps none");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "expected a number of at least 1|unlimited"));
}

TEST_CASE("a time limit holds where lanes wait for each other without end") {
  const std::string file = write("forever.ptx", kHeader + R"(
.visible .entry barrier(.param .u64 p)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 7;
L:
  bar.sync 0;
  bra L;
}
.visible .entry lanes(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 7;
L:
  activemask.b32 %r1;
  bra L;
}
)");
  for (const std::string kernel : {"barrier", "lanes"}) {
    // A busy machine may need more than the shortest limit to begin at all.
    for (const int limit : {1, 4, 16}) {
      const std::string out = write("forever.bin", "old");
      const Timed o = timed(fmt::format(
          "{} --kernel {} --block 64 --max-steps unlimited --timeout {} --arg out:{}:u32[1]", file,
          kernel, limit, out));
      CAPTURE(o.err);
      CHECK(o.code == 4);
      CHECK(o.seconds < 1 + limit + kStart);
      // SPIRV-Tools once made a loop of this shape into one that is not valid.
      CHECK_FALSE(contains(o.err, "validation"));
      const bool never_began = contains(o.err, "before the kernel could be launched");
      if (never_began) CHECK(slurp(out) == "old");
      if (never_began || contains(o.err, "still compiling")) {
        CHECK(limit < 16);
        continue;
      }
      // The buffers as they stand; after the device's own budget, too.
      CHECK(slurp(out) == std::string("\x07\0\0\0", 4));
      break;
    }
  }
}

TEST_CASE("a time limit holds while a program is read" * kHostCase) {
  std::string text = kHeader;
  for (unsigned i = 0; i < 60000; ++i) {
    text += ".visible .entry k" + std::to_string(i) + "()\n{\n  .reg .b32 %r<9>;\n";
    for (unsigned j = 0; j < 8; ++j) text += "  add.u32 %r1, %r2, " + std::to_string(j) + ";\n";
    text += "  ret;\n}\n";
  }
  const std::string out = write("large.bin", "old");
  const Timed o =
      timed(write("large.ptx", text) + " --kernel k7 --timeout 0.2 --arg out:" + out + ":u32[1]");
  CAPTURE(o.err);
  CHECK(o.code == 4);
  CHECK(lines_of(o.err) == 1);
  CHECK(contains(o.err,
                 "the run did not end within 0.2 s and could not be stopped; no output file "
                 "was touched"));
  CHECK(o.seconds < 1.2 + kStart);
  CHECK(slurp(out) == "old");
}

TEST_CASE("a time limit holds for a program that is never finished" * kHostCase) {
  const std::string pipe = scratch() + "/endless.ptx";
  std::filesystem::remove(pipe);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const Timed o = timed(pipe + " --timeout 0.2");
  CHECK(o.code == 4);
  CHECK(o.seconds < 1.2 + kStart);
}

TEST_CASE("a time limit holds for check, cache and trace, whatever they read") {
  if (std::strcmp(device(), "reference") != 0) return;
  const std::string pipe = scratch() + "/endless";
  const std::string commands[] = {
      "check " + pipe + ".ptx", "cache " + pipe + ".lwt --preset gv100",
      "trace convert " + pipe + ".din " + scratch() + "/endless_out.lwt"};
  for (const char* ending : {".ptx", ".lwt", ".din"}) {
    std::filesystem::remove(pipe + ending);
    REQUIRE(mkfifo((pipe + ending).c_str(), 0600) == 0);
  }
  for (const std::string& command : commands) {
    CAPTURE(command);
    const auto start = std::chrono::steady_clock::now();
    const Output o = program(command + " --timeout 0.2");
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CAPTURE(o.err);
    CHECK(o.code == 4);
    CHECK(seconds < 1.2 + kStart);
    CHECK(contains(o.err, "did not end within 0.2 s"));
    CHECK(program(command + " --timeout nan").code == 2);
  }
}

TEST_CASE("a time limit holds for stream scripts, explain, selftest, diff and bench") {
  if (std::strcmp(device(), "reference") != 0) return;  // the limit is the program's
  // Below the step budget, and minutes on this engine.
  const std::string kernel = kHeader + R"(
.visible .entry slow(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  mov.u32 %r1, 0;
L:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 60000000;
  @%p1 bra L;
  ret;
}
)";
  const std::string ptx = write("limits_slow.ptx", kernel);
  std::filesystem::create_directories(scratch() + "/limits");
  const std::string script = write(
      "limits/slow.lw",
      "case \"first\" {\n  isa ptx\n  reg .b32 %r1\n  code \"\"\"\n  mov.u32 %r1, 1;\n\"\"\"\n}\n"
      "case \"slow\" {\n  buffer b u32[1] = fill 0\n  module \"" +
          ptx + "\"\n  launch slow grid 8 block 128 args b\n}\n");
  const std::pair<std::string, std::string> cases[] = {
      {"run --device reference " + script, "; cases done: 1"},
      {"selftest --device reference --suite " + scratch() + "/limits", "; cases done: 1"},
      {"explain " + script + " --case slow", ""},
      {"diff " + ptx + " " + ptx + " --grid 8 --block 128", ""},
      {"bench --device reference --in-process --repeats 1000 --filter cache/rand64", ""},
  };
  for (const auto& [command, done] : cases) {
    CAPTURE(command);
    const auto start = std::chrono::steady_clock::now();
    const Output o = program(command + " --timeout 0.7");
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CAPTURE(o.err);
    CHECK(o.code == 4);
    CHECK(seconds > 0.5);
    CHECK(seconds < 1.7 + kStart);
    CHECK(lines_of(o.err) == 1);
    CHECK(contains(o.err, "lanewise: error: the run did not end within 0.7 s (--timeout); "));
    CHECK(contains(o.err, done));
  }
}
