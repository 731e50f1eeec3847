// Standard streams that are closed, full or left by their reader.
#include <csignal>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// The program with streams as the shell is asked for.
int code_with(const std::string& arguments, const std::string& streams) {
  const std::string line =
      "timeout 120 " LANEWISE_PROGRAM " " + with_sizes(arguments) + " " + streams;
  const int status = std::system(("bash -c '" + line + "'").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const std::string& kernel_file() {
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
  const std::string run = "run --device reference " + kernel_file() + " --arg zero:u32[1]";
  const std::string trace = write("streams.din", "0 1000\n1 2000\n");
  const std::string sass = LANEWISE_TEST_DATA "/kernels/data/sass/saxpy.sass";
  const std::string out = scratch() + "/streams.lwt";
  for (const std::string& command :
       {run, run + " --json", "check " + kernel_file(), "translate --emit ir " + kernel_file(),
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

TEST_CASE("errors keep their code when nobody reads them") {
  const std::string wrong = write("streams_wrong.ptx", kHeader + ".visible .entry k() { what; }\n");
  for (const std::string streams : {">&- 2>&-", ">/dev/full 2>/dev/full"}) {
    CAPTURE(streams);
    CHECK(code_with("check " + wrong, streams) == 1);
    CHECK(code_with("run --device reference " + wrong, streams) == 1);
    CHECK(code_with("run --no-such-option", streams) == 2);
    CHECK(code_with("run --device nothing-like-this " + kernel_file(), streams) == 3);
    CHECK(code_with("run --device reference " + kernel_file() + " --arg u64:0", streams) == 1);
  }
}

TEST_CASE("a reader that has seen enough ends the program quietly, as it does others" * kHostCase) {
  const std::string err = scratch() + "/pipe_err", code = scratch() + "/pipe_code";
  // The program's code, and what it says, with a pipe that nobody reads.
  const auto piped = [&](const std::string& arguments) {
    std::filesystem::remove(code);
    const std::string line = "( sleep 0.1; " LANEWISE_PROGRAM " " + with_sizes(arguments) + " 2>" +
                             err + "; echo $? >" + code + ") | true";
    CHECK(std::system(("bash -c '" + line + "'").c_str()) == 0);
    for (int n = 0; n < 600 && slurp(code).empty(); ++n) usleep(20'000);
    return slurp(code);
  };
  const std::string trace = write("pipe.din", "0 1000\n1 2000\n");
  const std::string reference = "run --device reference " + kernel_file() + " --arg ";
  for (const std::string& command :
       {std::string("--help"), std::string("--version"), std::string("help run"),
        std::string("devices"), std::string("coverage --isa ptx"), "check " + kernel_file(),
        "translate --emit ir " + kernel_file(),
        "translate --emit ir -o /dev/stdout " + kernel_file(), "cache " + trace + " --preset gv100",
        reference + "zero:u32[1]", reference + "zero:u32[1] --json",
        reference + "out:/dev/stdout:u32[1]",
        std::string("disasm " LANEWISE_TEST_DATA "/kernels/data/sass/k01_saxpy.cubin")}) {
    CAPTURE(command);
    CHECK(piped(command) == std::to_string(128 + SIGPIPE) + "\n");
    CHECK(slurp(err).empty());
  }
  // What went wrong besides is still reported.
  CHECK(piped("check no_such_file.ptx") == "2\n");
  CHECK(contains(slurp(err), "no_such_file.ptx"));
  CHECK(piped(reference + "u64:0") == "1\n");
  CHECK(contains(slurp(err), "fault"));
  const std::string line = LANEWISE_PROGRAM " coverage --isa ptx 2>&1 | head -1 | wc -l >" + code;
  CHECK(std::system(line.c_str()) == 0);
  CHECK(contains(slurp(code), "1"));
}

TEST_CASE("no file of ours takes the place of a closed stream") {
  const std::string out = scratch() + "/closed.bin";
  CHECK(code_with("run --device reference " + kernel_file() + " --arg out:" + out + ":u32[1]",
                  "<&- >&- 2>&-") == 2);
  CHECK(slurp(out) == std::string("\x07\0\0\0", 4));
}
