// `selftest`: the table, its JSON, its exit codes, and where it looks for the suite.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

constexpr const char* kRight = R"(
isa ptx
buffer x u32[32] = iota
for n in 1 2 {
  case "adds ${n}" {
    reg .b64 %a = x + 4 * lane
    reg .b32 %r
    code """
      ld.global.u32 %r, [%a];
      add.u32 %r, %r, ${n};
    """
    expect %r == lane + ${n}
  }
}
)";
constexpr const char* kBroken = R"(
isa sass
case "adds wrongly" {
  reg R0 = 5
  code """
    IADD R0, R0, 0x1 ;
  """
  expect R0 == 7
}
case "adds" {
  reg R0 = 5
  code """
    IADD R0, R0, 0x1 ;
  """
  expect R0 == 6
}
)";

/// A folder of scripts of this test's own.
std::string suite(const std::string& name, bool broken) {
  const std::string folder = scratch() + "/" + name;
  std::filesystem::create_directories(folder);
  write(name + "/ptx_adds.lw", kRight);
  if (broken) write(name + "/sass_adds.lw", kBroken);
  return folder;
}

Output selftest(const std::string& arguments) {
  return program("selftest --device '" + std::string(device()) + "' " + arguments);
}

}  // namespace

TEST_CASE("selftest counts by family and says what failed") {
  const Output good = selftest("--suite " + suite("good", false));
  CHECK(good.code == 0);
  CHECK(good.err.empty());
  CHECK(contains(good.out, "family    passed  failed  not supported\n"));
  CHECK(contains(good.out, "ptx_adds       2       0              0\n"));
  const Output bad = selftest("--suite " + suite("bad", true));
  CHECK(bad.code == 1);
  CHECK(contains(bad.out, "sass_adds       1       1              0\n"));
  CHECK(contains(bad.out, "all             3       1              0\n"));
  CHECK(contains(bad.err, "sass_adds.lw:8:3: error: \"adds wrongly\": R0: 32 of 32 lanes differ"));
}

TEST_CASE("selftest --quick runs a sample of each script, and says what it left out") {
  const std::string folder = suite("quick", true);
  write("quick/many.lw", R"(
isa ptx
for n in 1..9 {
  case "adds ${n}" {
    reg .b32 %r = lane
    code """ add.u32 %r, %r, ${n}; """
    expect %r == lane + ${n} + (${n} - 1) * (9 - ${n})
  }
}
)");
  // The first and the last are right.
  const Output quick = selftest("--quick --suite " + folder);
  CHECK(quick.code == 1);
  CHECK(contains(quick.out, "many            2       0              0\n"));
  CHECK(contains(quick.out, "sass_adds       1       1              0\n"));
  CHECK(contains(quick.out, "7 cases were left out"));
  CHECK(json::parse(selftest("--quick --json --suite " + folder).out)["left_out"] == 7);
  CHECK(json::parse(selftest("--json --suite " + folder).out)["left_out"] == 0);
}

TEST_CASE("selftest says how long it takes where that is long") {
  const std::string folder = scratch() + "/long_suite";
  std::filesystem::create_directories(folder);
  write("long_suite/a.lw",
        "isa ptx\nfor n in 1..5000 {\n  case \"${n}\" {\n    reg .b32 %r = lane\n"
        "    code \"\"\" add.u32 %r, %r, 1; \"\"\"\n  }\n}\n");
  const Output whole = selftest("--timeout 1 --suite " + folder);
  CHECK(contains(whole.err, "lanewise: 5000 cases on "));
  CHECK(contains(whole.err, "where nothing else runs; --quick: a sample"));
  const Output quick = selftest("--quick --suite " + folder);
  CHECK(quick.code == 0);
  CHECK(quick.err.empty());
}

TEST_CASE("selftest as JSON") {
  const Output o = selftest("--json --suite " + suite("bad", true));
  CHECK(o.code == 1);
  const json j = json::parse(o.out);
  CHECK(j["passed"] == 3);
  CHECK(j["failed"] == 1);
  CHECK(j["unsupported"] == 0);
  CHECK(contains(j["device"].get<std::string>(), device()));
  REQUIRE(j["families"].size() == 2);
  CHECK(j["families"][1]["family"] == "sass_adds");
  CHECK(j["families"][1]["failed"] == 1);
  REQUIRE(j["problems"].size() == 1);
  CHECK(j["problems"][0]["case"] == "adds wrongly");
  CHECK(j["problems"][0]["state"] == "failed");
  CHECK(!j["problems"][0]["messages"].empty());
}

TEST_CASE("selftest as JUnit XML" * kHostCase) {
  const std::string file = scratch() + "/selftest.xml";
  const Output o = selftest("--junit " + file + " --suite " + suite("bad", true));
  CHECK(o.code == 1);
  const Output read = read_as("junit", file);
  CHECK_MESSAGE(read.code == 0, read.out);
  CHECK(std::ranges::count(read.out, '\n') == 4);
  CHECK(contains(slurp(file), "tests=\"4\" failures=\"1\""));
  CHECK(contains(slurp(file), "classname=\"sass_adds\" name=\"adds wrongly\""));
  CHECK(selftest("--junit /no/such/folder/a.xml --suite " + suite("bad", true)).code == 2);
}

TEST_CASE("a script that is wrong fails, a folder without scripts is a usage error") {
  const std::string folder = suite("wrong", false);
  write("wrong/broken.lw", "isa ptx\ncase \"c\" {\n  reg .b32 %r = \n}\n");
  const Output wrong = selftest("--suite " + folder);
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.err, "broken.lw:3:"));
  std::filesystem::create_directories(scratch() + "/empty");
  for (const char* name : {"/empty", "/absent"}) {
    const Output o = selftest("--suite " + scratch() + name);
    CHECK(o.code == 2);
    CHECK(o.err.starts_with("lanewise: error: "));
    CHECK(lines_of(o.err) == 1);
  }
}

TEST_CASE("the suite lies beside the program; without it the error says where it was looked for" *
          kHostCase) {
  // The whole suite on each device is a test of its own; here only that it is found.
  const json j = json::parse(program("selftest --device reference --quick --json").out);
  CHECK(j["failed"] == 0);
  CHECK(j["unsupported"] == 0);
  CHECK(j["passed"] >= 60);
  const std::string bin = scratch() + "/elsewhere/bin";
  std::filesystem::create_directories(bin);
  std::filesystem::copy_file(LANEWISE_PROGRAM, bin + "/lanewise",
                             std::filesystem::copy_options::overwrite_existing);
  const std::string err = scratch() + "/missing";
  const int status = std::system((bin + "/lanewise selftest --device reference 2>" + err).c_str());
  CHECK(WEXITSTATUS(status) == 2);
  CHECK(contains(slurp(err), "elsewhere/share/lanewise/conformance"));
}
