// Standard streams that are closed, full or left by their reader.
#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// The program with streams as the shell is told.
int code_with(const std::string& arguments, const std::string& streams) {
  const std::string line =
      "timeout 120 " LANEWISE_PROGRAM " " + with_sizes(arguments) + " " + streams;
  const int status = std::system(("bash -c '" + line + "'").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const std::string& kernel() {
  static const std::string path = write("streams.ptx", kHeader + R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 7;
  ret;
}
)");
  return path;
}

}  // namespace

TEST_CASE("results that cannot be written are code 2, whatever the command" * kHostCase) {
  const std::string run = "run --device reference " + kernel() + " --arg zero:u32[1]";
  const std::string trace = write("streams.din", "0 1000\n1 2000\n");
  const std::string sass = LANEWISE_TEST_DATA "/kernels/data/sass/saxpy.sass";
  const std::string out = scratch() + "/streams.lwt";
  for (const std::string& command :
       {run, run + " --json", "check " + kernel(), "translate --emit ir " + kernel(),
        std::string("coverage --isa ptx"), std::string("devices"), std::string("--help"),
        std::string("--version"), "cache " + trace + " --preset gv100",
        "trace convert " + trace + " " + out}) {
    CAPTURE(command);
    const std::string err = scratch() + "/stream_err";
    CHECK(code_with(command, ">/dev/full 2>" + err) == 2);
    CHECK(slurp(err) ==
          "lanewise: error: cannot write to standard output: No space left on device\n");
    CHECK(code_with(command, ">&- 2>" + err) == 2);
    CHECK(slurp(err) == "lanewise: error: cannot write to standard output: Bad file descriptor\n");
    CHECK(code_with(command, ">/dev/null 2>&-") == 0);
    CHECK(code_with(command, ">/dev/null 2>/dev/full") == 0);
    CHECK(code_with(command, "<&- >&- 2>&-") == 2);
  }
}

TEST_CASE("errors keep their code when nobody can be told") {
  const std::string wrong = write("streams_wrong.ptx", kHeader + ".visible .entry k() { what; }\n");
  for (const std::string streams : {">&- 2>&-", ">/dev/full 2>/dev/full"}) {
    CAPTURE(streams);
    CHECK(code_with("check " + wrong, streams) == 1);
    CHECK(code_with("run --device reference " + wrong, streams) == 1);
    CHECK(code_with("run --no-such-option", streams) == 2);
    CHECK(code_with("run --device nothing-like-this " + kernel(), streams) == 3);
    CHECK(code_with("run --device reference " + kernel() + " --arg u64:0", streams) == 1);
  }
}

TEST_CASE("a reader that has seen enough is an error, not a signal") {
  const std::string err = scratch() + "/pipe_err", code = scratch() + "/pipe_code";
  const std::string line = "(" LANEWISE_PROGRAM " coverage --isa ptx 2>" + err + "; echo $? >" +
                           code + ") | head -1 >/dev/null";
  CHECK(std::system(line.c_str()) == 0);
  CHECK(slurp(code) == "2\n");
  CHECK(slurp(err) == "lanewise: error: cannot write to standard output: Broken pipe\n");
}

TEST_CASE("no file of ours takes the place of a closed stream") {
  const std::string out = scratch() + "/closed.bin";
  CHECK(code_with("run --device reference " + kernel() + " --arg out:" + out + ":u32[1]",
                  "<&- >&- 2>&-") == 2);
  CHECK(slurp(out) == std::string("\x07\0\0\0", 4));
}
