// `run` and `check` of stream scripts: exit codes and what is printed where.
#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

std::string expecting(const std::string& expected) {
  return "isa sass\nbuffer x u32[32] = iota 5\ncase \"adds\" {\n  reg R2 = x + 4 * lane\n  code "
         "\"\"\"\n"
         "    LDG R0, [R2] ;\n    IADD R0, R0, 0x1 ;\n  \"\"\"\n  expect R0 == " +
         expected + "\n}\n";
}

std::string on_device() {
  return std::string(" --device ") + device();
}

}  // namespace

TEST_CASE("a script that holds, one that does not, one that is wrong") {
  const Output good = program("run " + write("good.lw", expecting("lane + 6")) + on_device());
  CHECK(good.code == 0);
  CHECK(good.out.find("1 of 1 cases passed") != std::string::npos);
  CHECK(good.err.empty());
  const Output bad = program("run " + write("bad.lw", expecting("lane + 7")) + on_device());
  CHECK(bad.code == 1);
  CHECK(bad.err.find("bad.lw:9:3: error: \"adds\": R0: 32 of 32 lanes differ") !=
        std::string::npos);
  CHECK(bad.err.find("lane 0: expected 0x00000007 (7), found 0x00000006 (6)") != std::string::npos);
  const Output wrong = program("run " + write("wrong.lw", expecting("lane +")) + on_device());
  CHECK(wrong.code == 1);
  CHECK(wrong.err.find("wrong.lw:10:1: error: expected a value, found '}'") != std::string::npos);
  CHECK(program("run " + scratch() + "/none.lw" + on_device()).code == 2);
}

TEST_CASE("scripts as JSON, and options that belong to kernels only") {
  const std::string file = write("bad.lw", expecting("lane + 7"));
  const Output json = program("run " + file + " --json" + on_device());
  CHECK(json.code == 1);
  CHECK(json.out.find("\"failed\": 1") != std::string::npos);
  CHECK(json.out.find("\"passed\": false") != std::string::npos);
  const Output options = program("run " + file + " --block 64" + on_device());
  CHECK(options.code == 2);
  CHECK(options.err.find("stands in the script") != std::string::npos);
}

TEST_CASE("check evaluates and assembles, but runs nothing") {
  const Output good = program("check " + write("bad.lw", expecting("lane + 7")));
  CHECK(good.code == 0);
  CHECK(good.out.find("ok, 1 cases") != std::string::npos);
  const Output wrong = program("check " + write("wrong.lw", expecting("x[lane + 1]")));
  CHECK(wrong.code == 1);
  CHECK(wrong.err.find("'x' has 32 elements, number 32 is needed") != std::string::npos);
  const Output code = program(
      "check " +
      write("code.lw", "isa sass\ncase \"c\" {\n  code \"\"\"\n    NOPE R0 ;\n  \"\"\"\n}\n"));
  CHECK(code.code == 1);
  CHECK(code.err.find("code.lw:4:5: error:") != std::string::npos);
}
