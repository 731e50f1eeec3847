// What the program says about its use: help texts, examples that run, usage errors that help.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

const std::vector<std::string> kCommands = {
    "devices", "run",   "check", "translate", "coverage", "asm",  "disasm", "cache",
    "preset",  "trace", "bench", "selftest",  "explain",  "diff", "help"};

/// The lines under "Examples:".
std::vector<std::string> examples_in(const std::string& help) {
  std::vector<std::string> out;
  std::istringstream lines(help);
  bool on = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Examples:") {
      on = true;
    } else if (on && line.starts_with("  lanewise ")) {
      out.push_back(line.substr(11));
    } else {
      on = false;
    }
  }
  return out;
}

/// A folder that holds what examples name, to be run in.
std::string example_folder() {
  const std::string folder = scratch() + "/examples";
  const std::filesystem::path root = std::filesystem::path(LANEWISE_TEST_DATA).parent_path();
  std::filesystem::create_directories(folder);
  for (const char* name : {"samples", "tests"})
    if (!std::filesystem::exists(folder + "/" + name))
      std::filesystem::create_directory_symlink(root / name, folder + "/" + name);
  return folder;
}

}  // namespace

TEST_CASE("every --help has the exit codes, and its examples run" * kHostCase) {
  const std::string folder = example_folder();
  std::vector<std::string> commands = kCommands;
  commands.emplace_back("trace convert");
  size_t run = 0;
  for (const std::string& command : commands) {
    CAPTURE(command);
    const Output help = program(command + " --help");
    CHECK(help.code == 0);
    CHECK(contains(help.out, "Exit codes:\n  0  done\n"));
    CHECK(program("help " + command).out == help.out);
    for (const std::string& example : examples_in(help.out)) {
      CAPTURE(example);
      const std::string line = "cd " + folder + " && " LANEWISE_PROGRAM " " + example +
                               " >/dev/null 2>" + scratch() + "/e";
      CHECK(std::system(line.c_str()) == 0);
      CHECK(slurp(scratch() + "/e").find("error") == std::string::npos);
      ++run;
    }
  }
  CHECK(run >= 14);
}

TEST_CASE("help without a command shows all of them") {
  const Output o = program("help");
  CHECK(o.code == 0);
  CHECK(o.out == program("--help").out);
  for (const std::string& command : kCommands) {
    CAPTURE(command);
    CHECK(contains(o.out, "  " + command + " "));
  }
  CHECK(program("help runn").code == 2);
  CHECK(contains(program("help runn").err, "did you mean 'run'?"));
}

TEST_CASE("usage errors name the word, the nearest one and whom to ask") {
  const struct {
    const char *line, *says;
  } rows[] = {
      {"runn", "there is no command 'runn'; did you mean 'run'? (see 'lanewise --help')"},
      {"frobnicate", "there is no command 'frobnicate'; there are: devices, run, "},
      {"", "a command is missing; there are: devices, "},
      {"run", "FILE is missing (see 'lanewise run --help')"},
      {"run x.ptx --grd 1",
       "there is no option '--grd'; did you mean '--grid'? (see 'lanewise run "
       "--help')"},
      {"explain a b", "'b' is one word too many (see 'lanewise explain --help')"},
      {"run x.ptx --grid", "--grid: its value is missing"},
      {"run x.ptx --grid 4 --block 32 --grid 5", "--grid is given more than once"},
      {"run x.ptx --dyn-shared many", "--dyn-shared: 'many' is no number"},
      {"run x.ptx --wave packd",
       "'packd' is none of auto, lane, packed, serial; did you mean "
       "'packed'?"},
      {"run x.ptx --timeout nan", "--timeout: 'nan' is no number of at least 0"},
      {"run x.ptx --timeout inf", "--timeout: 'inf' is no number of at least 0"},
      {"run x.ptx --timeout -1", "--timeout: '-1' is no number of at least 0"},
      {"run x.ptx --trace-buffer 0", "'0' is no whole number from 1 to 2048"},
      {"trace konvert",
       "there is no command 'konvert'; did you mean 'convert'? (see 'lanewise trace "
       "--help')"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.line);
    const Output o = program_as_is(row.line);
    CHECK(o.code == 2);
    CHECK(o.err.starts_with("lanewise: error: "));
    CHECK(lines_of(o.err) == 1);
    CAPTURE(o.err);
    CHECK(contains(o.err, row.says));
  }
}

TEST_CASE("run without --grid or --block says what to give") {
  const std::string file = write("k.ptx", kHeader + ".visible .entry k() { ret; }\n");
  const Output none = program_as_is("run --device reference " + file);
  CHECK(none.code == 2);
  CHECK(contains(none.err, "--grid is missing: --grid X[,Y[,Z]] says how many work-groups"));
  const Output grid = program_as_is("run --device reference " + file + " --grid 1");
  CHECK(grid.code == 2);
  CHECK(contains(grid.err, "--block is missing"));
  CHECK(program("run --device reference " + file + " --grid 1 --block 1").code == 0);
}

TEST_CASE("--json prints its object also on failure") {
  const std::string bad = write("bad.ptx", kHeader + ".visible .entry k() { frob; }\n");
  const Output rejected = program("run --device reference --json --grid 1 --block 1 " + bad);
  CHECK(rejected.code == 1);
  const json error = json::parse(rejected.out)["error"];
  CHECK(error["exit_code"] == 1);
  REQUIRE(error["diagnostics"].size() == 1);
  CHECK(error["diagnostics"][0]["line"] == 4);
  CHECK(contains(error["diagnostics"][0]["message"], "frob"));
  const Output usage = program("devices --json --frob");
  CHECK(usage.code == 2);
  CHECK(json::parse(usage.out)["error"]["exit_code"] == 2);
  CHECK(!usage.err.empty());
  const Output device = program("run --json --device nope --grid 1 --block 1 " + bad);
  CHECK(device.code == 3);
  CHECK(json::parse(device.out)["error"]["exit_code"] == 3);
  CHECK(contains(device.err, "and the CPU engine 'reference'"));
  CHECK(program("run --device reference --grid 1 --block 1 " + bad).out.empty());
}

TEST_CASE("the CPU engine is among the devices") {
  const Output o = program("devices");
  CHECK(o.code == 0);
  CHECK(contains(o.out, "reference (lanewise)"));
}

TEST_CASE("- is standard input and standard output") {
  const std::string file = write("k.ptx", kHeader + ".visible .entry k() { ret; }\n");
  CHECK(program("check - <" + file).out == "<stdin>: ok, 1 kernels\n");
  CHECK(program("run --device reference --grid 1 --block 1 - <" + file).code == 0);
  const std::string ir = program("translate --emit ir " + file).out;
  CHECK(!ir.empty());
  CHECK(program("translate --emit ir -o - - <" + file).out == ir);
  const std::string gcn = write("k.s", "s_endpgm\n");
  CHECK(program("asm --isa gcn --target gfx803 -o - - <" + gcn).out ==
        std::string("\x00\x00\x81\xbf", 4));
  const Output nothing = program("check - </dev/null");
  CHECK(nothing.code == 2);
  CHECK(contains(nothing.err, "<stdin>"));
}

TEST_CASE("errors say what to give, in words of this program" * kHostCase) {
  const std::string k = LANEWISE_TEST_DATA "/../samples/kernels/saxpy.ptx";
  const struct {
    std::string line;
    int code;
    const char* says;
  } rows[] = {
      {"coverage", 2, "--isa is missing: ptx, sass or gcn"},
      {"coverage --device reference --waves " + k, 2, "the reference engine is none"},
      {"run --device nope --grid 1 --block 1 " + k, 3, "and the CPU engine 'reference'"},
      {"run --device reference --grid 0 --block 1 --arg i32:1 --arg f32:2 --arg zero:f32[1] --arg "
       "zero:f32[1] " +
           k,
       2, "no work-group: every dimension must be at least 1"},
      {"run --device reference --grid 4x4 --block 1 " + k, 2, "expected X, X,Y or X,Y,Z"},
      {"run --device reference --grid 1 --block 1 --arg out:x.npy " + k, 2, "as in f32[1024]"},
      {"run --device reference --grid 1 --block 1 --arg 7 " + k, 2, "such as u32:7"},
      {"run --device reference --grid 1 --block 1 --arg u32:4 " + k, 2,
       "in order: saxpy_param_0 (u32, 4 bytes), saxpy_param_1 (f32, 4 bytes)"},
      {"run --device reference --grid 1 --block 1 --kernel saxp " + k, 2, "there are: saxpy"},
      {"run --grid 1 --block 1 nope.ptx", 2, "cannot read 'nope.ptx'"},
      {"cache nope.lwt --preset gv100", 2, "cannot read nope.lwt"},
      {"cache k.tracez --preset gv100", 2,
       "k.tracez: the format of Accel-Sim 2.0's .tracez is not public; expected .trace or .traceg"},
      {"trace convert " + k + " x.pdf", 2, "expected .lwt, .traceg, .din or .json"},
      {"asm --tsv " + k, 2, "no assembler for 'ptx'; those that there are: sass, gcn"},
      {"translate --emit foo " + k, 2, "is none of spirv, spirv-text, ir"},
      {"check --target sm_99 " + k, 2, "unknown target 'sm_99'"},
      {"explain", 2, "give FILE[:LINE] or --text"},
      {"diff " + k, 2, "B is missing (see 'lanewise diff --help')"},
      {"selftest --suite /nope", 2, "cannot read the folder of stream scripts '/nope'"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.line);
    const Output o = program_as_is(row.line);
    CAPTURE(o.err);
    CHECK(o.code == row.code);
    CHECK(lines_of(o.err) == 1);
    CHECK(contains(o.err, row.says));
    for (const char* jargon : {"CLI", "std::", "json.exception", "what()", "VK_", "assert"})
      CHECK_MESSAGE(!contains(o.err, jargon), jargon);
  }
}

TEST_CASE("on a terminal, long work shows how far it is") {
  if (std::string(device()) != "reference") return;
  const std::string suite = scratch() + "/suite";
  std::filesystem::create_directories(suite);
  for (const char* name : {"a.lw", "b.lw", "c.lw"})
    write(std::string("suite/") + name, R"(isa ptx
waves 8
for n in 1..5000 {
  case "${n}" {
    reg .b32 %a = lane
    code """ add.u32 %a, %a, ${n}; """
    expect %a == lane + ${n}
  }
}
)");
  const std::string selftest = "selftest --device reference --suite " + suite;
  const std::string seen = scratch() + "/terminal";
  const std::string line = "script -qec '" LANEWISE_PROGRAM " " + selftest + "' /dev/null >" + seen;
  CHECK(std::system(line.c_str()) == 0);
  const std::string shown = slurp(seen);
  CHECK(contains(shown, "running the conformance suite on reference ..."));
  CHECK(contains(shown, " %,"));
}
