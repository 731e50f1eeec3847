// Malformed input: the documented exit code, and a message that says where and why.
#include <fmt/format.h>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

const std::string kGood = kHeader + R"(
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("the good program runs") {
  CHECK(run(write("k.ptx", kGood) + " --arg zero:u32[1]").code == 0);
  CHECK(program("check " + write("k.ptx", kGood)).code == 0);
}

TEST_CASE("an unknown instruction, and every further error, with line and column") {
  std::string text = replaced(kGood, "mov.u32 %r1, 1;", "frobnicate.u32 %r1, 1;");
  text = replaced(text, "[%rd1], %r1", "[%rd1], %r77");
  const std::string file = write("bad.ptx", text);
  for (const Output& o : {run(file + " --arg zero:u32[1]"), program("check " + file)}) {
    CHECK(o.code == 1);
    CHECK(contains(o.err, file + ":10:3: error: "));
    CHECK(contains(o.err, "frobnicate"));
    CHECK(contains(o.err, file + ":11:"));
    CHECK(contains(o.err, "%r77"));
  }
}

TEST_CASE("truncated at every tenth byte: an error, never a crash" * kHostCase) {
  for (size_t n = 0; n < kGood.size() - 2; n += 10) {
    CAPTURE(n);
    const Output o = program("check " + write("cut.ptx", kGood.substr(0, n)));
    // A cut between two functions leaves a legal, empty module.
    CHECK((o.code == 1 || n <= kHeader.size() + 1));
    if (o.code == 1) CHECK(contains(o.err, "cut.ptx:"));
    CHECK(o.code <= 1);
  }
}

TEST_CASE("a binary file named .ptx") {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 37 + (i >> 5));
  const Output o = program("check " + write("binary.ptx", bytes));
  CHECK(o.code == 1);
  CHECK(contains(o.err, "binary.ptx:1:"));
  CHECK(lines_of(o.err) <= 100);
  const Output elf = program("check " + write("elf.ptx",
                                              "\x7f"
                                              "ELF" +
                                                  bytes));
  CHECK(elf.code == 2);
  CHECK(contains(elf.err, "ELF"));
}

TEST_CASE("host files that cannot be used" * kHostCase) {
  CHECK(run("/nonexistent.ptx").code == 2);
  CHECK(contains(run("/nonexistent.ptx").err, "/nonexistent.ptx"));
  CHECK(run("/tmp").code == 2);
  const std::string file = write("k.ptx", kGood);
  const struct {
    const char *arg, *says;
  } wrong[] = {{"in:/nonexistent.npy", "/nonexistent.npy"},
               {"u32:banana", "banana"},
               {"u32:4294967296", "does not fit"},
               {"i8:-129", "does not fit"},
               {"u99:1", "unknown kind"},
               {"nothing", "expected KIND:VALUE"},
               {"zero:u32", "TYPE[N]"},
               {"zero:q7[3]", "unknown type"},
               {"hex:ABC", "even number"}};
  for (const auto& w : wrong) {
    CAPTURE(w.arg);
    const Output o = run(fmt::format("{} --arg '{}'", file, w.arg));
    CHECK(o.code == 2);
    CHECK(contains(o.err, w.says));
    CHECK(lines_of(o.err) == 1);
  }
  const std::string npy = write("bad.npy", "\x93NUMPY\x01");
  CHECK(contains(run(file + " --arg in:" + npy).err, "bad.npy"));
}

TEST_CASE("wrong arguments and options" * kHostCase) {
  const std::string file = write("k.ptx", kGood);
  CHECK(contains(run(file).err, "takes 1 arguments, 0 were given"));
  CHECK(contains(run(file + " --arg zero:u32[1] --arg u32:1").err, "2 were given"));
  CHECK(contains(run(file + " --arg f32:1").err,
                 "declared as u64, a floating-point number was given"));
  CHECK(contains(run(file + " --arg hex:0000").err, "takes 8 bytes"));
  CHECK(contains(run(file + " --kernel nope --arg zero:u32[1]").err, "no kernel 'nope'"));
  CHECK(contains(run(file + " --policy nope=1 --arg zero:u32[1]").err, "unknown policy"));
  CHECK(contains(run(file + " --policy steps=0 --arg zero:u32[1]").err, "policy steps"));
  CHECK(contains(run(file + " --grid 1,2,3,4 --arg zero:u32[1]").err, "--grid"));
  for (const char* line : {"", "frob", "run", "run --frob x.ptx", "coverage --isa nope"}) {
    CAPTURE(line);
    const Output o = program(line);
    CHECK(o.code == 2);
    CHECK(o.err.starts_with("lanewise: error: "));
  }
  const Output none = program("run --device 'no such device' " + file + " --arg zero:u32[1]");
  CHECK(none.code == 3);
  CHECK(contains(none.err, "no such device"));
}

TEST_CASE("a kernel that cannot run leaves the others of its file usable") {
  const std::string file = write("two.ptx", kGood + R"(
.visible .entry broken()
{
  .reg .b32 %r<2>;
  frob.u32 %r1;
  ret;
}
)");
  CHECK(run(file + " --kernel k --arg zero:u32[1]").code == 0);
  const Output o = run(file + " --kernel broken");
  CHECK(o.code == 1);
  CHECK(contains(o.err, "`frob` is no instruction of PTX"));
  CHECK(lines_of(o.err) == 1);
  CHECK(contains(run(file).err, "several kernels, name one of: k, broken"));
  CHECK(program("check " + file).code == 1);
}
