// Drivers that compile for hardware that is not there: RADV with a family of its choice.
#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

constexpr const char* kRadv = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
const std::string kSaxpyPtx = LANEWISE_TEST_DATA "/kernels/data/ptx/saxpy.sm75.ptx";

/// Environment variables that have other values while this lives.
class Settings {
 public:
  Settings(std::initializer_list<std::pair<const char*, const char*>> settings) {
    for (const auto& [name, value] : settings) {
      const char* old = std::getenv(name);
      old_.emplace_back(name, old != nullptr ? old : "");
      setenv(name, value, 1);
    }
  }
  ~Settings() {
    for (const auto& [name, value] : old_)
      value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  std::vector<std::pair<const char*, std::string>> old_;
};

bool radv_is_there() {
  if (std::filesystem::exists(kRadv)) return true;
  MESSAGE("no RADV on this machine: its null device is not tested");
  return false;
}

}  // namespace

TEST_CASE("a device that runs nothing is listed, translated for, and refuses to run") {
  if (std::string(device()) != "reference" || !radv_is_there()) return;
  const Settings vega({{"RADV_FORCE_FAMILY", "vega10"},
                       {"VK_ICD_FILENAMES", kRadv},
                       {"VK_DRIVER_FILES", kRadv},
                       {"LANEWISE_DEVICE", ""},
                       {"LANEWISE_VALIDATION", ""}});
  const json devices = json::parse(program("devices --json").out)["devices"];
  REQUIRE(devices.size() == 2);
  CHECK(devices[0]["compile_only"] == true);
  CHECK(devices[1]["compile_only"] == false);
  CHECK(contains(program("devices").out, "compile-only (profile gpu)"));

  const Output text = program("translate " + kSaxpyPtx + " --block 256 --device vega10");
  CHECK(text.code == 0);
  CHECK(contains(text.out, "OpEntryPoint GLCompute"));
  if (devices[0]["driver"] == "radv Mesa 22.3.6") {
    CHECK(program("translate " + kSaxpyPtx + " --block 256 --device profile:vega10").out ==
          text.out);
  }
  const std::string arguments =
      " --block 32 --arg i32:4 --arg f32:2 --arg zero:f32[4] --arg zero:f32[4]";
  const Output run = program("run " + kSaxpyPtx + arguments + " --device 0");
  CHECK(run.code == 3);
  CHECK(lines_of(run.err) == 1);
  CHECK(contains(run.err, "compiles kernels and runs none"));
  CHECK(run.out.empty());
  const Output bench = program("bench --filter first-run/20 --device 0");
  CHECK(bench.code == 3);
  CHECK(contains(bench.err, "--isa"));
}

TEST_CASE("bench --isa compiles both sides on a device that runs nothing") {
  if (std::string(device()) != "reference" || !radv_is_there()) return;
  const Settings navi({{"RADV_FORCE_FAMILY", "navi21"},
                       {"VK_ICD_FILENAMES", kRadv},
                       {"VK_DRIVER_FILES", kRadv},
                       {"LANEWISE_DEVICE", ""},
                       {"LANEWISE_VALIDATION", ""}});
  const Output o = program("bench --isa --filter '^glsl/(copy1|unpack.gcn)' --json");
  CHECK(o.code == 0);
  const json j = json::parse(o.out);
  CHECK(contains(j["device"], "NAVI21"));
  REQUIRE(j["benchmarks"].size() == 12);  // three kinds of checks, each for any launch and one
  for (const json& row : j["benchmarks"]) {
    CAPTURE(row["name"].get<std::string>());
    CHECK(row["translated"]["Instructions"] > 0);
    CHECK(row["glsl"]["Instructions"] > 0);
    CHECK(row["ratio"]["Inverse Throughput"] > 0);
  }
  CHECK(j["geometric_means"]["checked"]["kernels"] == 1);  // unpack.gcn is none of the twelve
  CHECK(j["geometric_means"]["checked by arena, of the launch that is timed"]["kernels"] == 1);
  CHECK(
      contains(program("bench --isa --filter '^glsl/copy1$'").out, "geometric means of 1 kernels"));

  const Output slow = program("bench --isa --filter '^glsl/reduce_shfl$' --limit 1 --json");
  const json row = json::parse(slow.out)["benchmarks"][0];
  if (row.contains("failed")) {
    CHECK(row["failed"] == "not done within 1 s of processor time");
    CHECK(slow.code == 1);
  } else {
    CHECK(row.contains("translated"));
  }
}

TEST_CASE("bench measures a translated kernel beside GLSL, in a process of its own") {
  const std::string name = "--filter '^glsl/copy1(/off)?$' --repeats 1 --json --device ";
  if (std::string(device()) == "reference") {
    CHECK(program("bench " + name + "reference").code == 2);
    return;
  }
  const Output o = program("bench " + name + device());
  CHECK(o.code == 0);
  const json rows = json::parse(o.out)["benchmarks"];
  REQUIRE(rows.size() == 2);
  for (const json& row : rows) {
    CHECK(!row.contains("wrong"));
    CHECK(row["value"] > 0);
    CHECK(row["ratio_min"] <= row["ratio_median"]);
    CHECK(row["ratio_median"] <= row["ratio_max"]);
    CHECK(row["cpu_ratio"] > 0);
  }
}

TEST_CASE("bench says of a kernel what the device lacks for it, and goes on") {
  if (std::string(device()) == "reference") return;
  const Output o = program("bench --filter '^glsl/(dsum|copy4)/off$' --repeats 1 --json --device " +
                           std::string(device()));
  const json rows = json::parse(o.out)["benchmarks"];
  REQUIRE(rows.size() == 2);
  for (const json& row : rows) {
    const bool fails = row.contains("failed");
    if (fails) CHECK(row["failed"] == "GLSL needs 64-bit floats");
    if (fails) CHECK(row["name"] == "glsl/dsum/off");
    if (!fails) CHECK(row["value"] > 0);
    if (fails) CHECK(o.code == 1);
  }
}

TEST_CASE("where something runs, the device that runs nothing is not chosen by itself") {
  if (std::string(device()) == "reference" || !radv_is_there()) return;
  const std::string both = std::string(kRadv) + ":" + std::getenv("VK_ICD_FILENAMES");
  const Settings settings({{"RADV_FORCE_FAMILY", "vega10"},
                           {"VK_ICD_FILENAMES", both.c_str()},
                           {"VK_DRIVER_FILES", both.c_str()},
                           {"LANEWISE_DEVICE", ""},
                           {"LANEWISE_VALIDATION", ""}});
  CHECK(json::parse(program("devices --json").out)["devices"].size() == 3);
  const Output run = program(
      "run " + kSaxpyPtx +
      " --block 32 --arg i32:4 --arg f32:2 --arg zero:f32[4] --arg zero:f32[4] --device auto");
  CHECK(run.code == 0);
}

TEST_CASE("a profile is translated for without any device") {
  if (std::string(device()) != "reference") return;
  const Settings nothing(
      {{"VK_ICD_FILENAMES", "/nonexistent"}, {"VK_DRIVER_FILES", "/nonexistent"}});
  CHECK(program("translate " + kSaxpyPtx + " --block 256 --device profile:vega10").code == 0);
  const Output unknown = program("translate " + kSaxpyPtx + " --block 256 --device profile:none");
  CHECK(unknown.code == 3);
  CHECK(contains(unknown.err, "there are: vega10, h100"));
}

// NVIDIA's driver computes f32 by IEEE where a rounding mode is asked for, and nowhere else.
TEST_CASE("modules ask for the float modes that their lowering counts on") {
  if (std::string(device()) != "reference") return;
  const std::string translate =
      "translate " + kSaxpyPtx + " --block 256 --emit spirv-text --device ";
  const std::string h100 = program(translate + "profile:h100").out;
  CHECK(contains(h100, "RoundingModeRTE 32"));
  CHECK(contains(h100, "SignedZeroInfNanPreserve 32"));
  CHECK(!contains(h100, "DenormPreserve"));
  const std::string vega10 = program(translate + "profile:vega10").out;
  CHECK(contains(vega10, "RoundingModeRTE 32"));
  CHECK(contains(vega10, "DenormPreserve 32"));
}
