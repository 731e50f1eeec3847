// What the commands print, and array files in and out.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/support/npy.hpp"
#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {
const std::string kKernels = LANEWISE_TEST_DATA "/kernels/data/ptx/";
const std::string kMasks = LANEWISE_TEST_DATA "/kernels/data/masks/";
}  // namespace

TEST_CASE("devices --json lists the reference engine and the Vulkan devices") {
  const json j = json::parse(program("devices --json").out);
  std::vector<std::string> names;
  for (const auto& d : j["devices"]) names.push_back(d["name"]);
  REQUIRE(!names.empty());
  CHECK(names.back() == "reference");
  CHECK(contains(program("devices").out, "reference"));
}

TEST_CASE("run with .npy files: saxpy, in place and to another file") {
  using namespace lanewise::npy;
  const auto store = [](const std::string& path, const std::vector<float>& v) {
    Array a{"f32", {v.size()}, {}};
    a.bytes.resize(4 * v.size());
    std::memcpy(a.bytes.data(), v.data(), a.bytes.size());
    lanewise::npy::write_array(path, a);
  };
  const std::string x = scratch() + "/x.npy", y = scratch() + "/y.npy", z = scratch() + "/z.npy";
  store(x, {1, 2, 3, 4});
  store(y, {10, 20, 30, 40});
  const std::string line =
      kKernels + "saxpy.sm75.ptx --block 32 --arg i32:4 --arg f32:2 --arg in:" + x;
  const Output o = run(line + " --json --arg inout:" + y + ":" + z);
  CHECK(o.code == 0);
  const Array got = lanewise::npy::read_array(z);
  CHECK(got.type == "f32");
  CHECK(got.shape == std::vector<uint64_t>{4});
  float v[4];
  std::memcpy(v, got.bytes.data(), 16);
  CHECK(v[0] == 12);
  CHECK(v[3] == 48);
  std::memcpy(v, lanewise::npy::read_array(y).bytes.data(), 16);
  CHECK(v[3] == 40);
  const json j = json::parse(o.out);
  CHECK(j["kernel"] == "saxpy");
  CHECK(j["faults"].empty());
  for (const char* key : {"parse", "translate", "pipeline", "dispatch", "readback"}) {
    CAPTURE(key);
    CHECK(j["times_ms"][key].is_number());
  }
  CHECK(j["policies"]["ptx.align"] == "trap");
  CHECK(j.contains("cache"));
  CHECK(j["wave_mode"] == "lane");
  CHECK(!j["wave_reason"].get<std::string>().empty());
  CHECK(run(line + " --arg inout:" + y).code == 0);
  std::memcpy(v, lanewise::npy::read_array(y).bytes.data(), 16);
  CHECK(v[3] == 48);
}

TEST_CASE("npy files round-trip, and other shapes and versions are read") {
  using namespace lanewise::npy;
  for (const char* type :
       {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"}) {
    for (const std::vector<uint64_t>& shape :
         {std::vector<uint64_t>{}, {3}, {2, 3}, {2, 0}, {2, 3, 4}}) {
      Array a{type, shape, {}};
      uint64_t n = element_size(type);
      for (const uint64_t d : shape) n *= d;
      for (uint64_t i = 0; i < n; ++i) a.bytes.push_back(static_cast<std::byte>(i));
      const std::string file = format_npy(a);
      const Array back = parse_npy(file, "x");
      CHECK(back.type == a.type);
      CHECK(back.shape == a.shape);
      CHECK(back.bytes == a.bytes);
      CHECK((file.size() - n) % 64 == 0);
    }
  }
}

TEST_CASE("check finds nothing wrong with the corpus" * kHostCase) {
  for (const auto& entry : std::filesystem::directory_iterator(kKernels)) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().string());
    const Output o = program("check " + entry.path().string());
    CHECK(o.code == 0);
    CHECK(o.err.empty());
  }
}

TEST_CASE("check judges a file as compiled for a target, by an assembler, and by the manual") {
  const std::string file = write("legal.ptx",
                                 ".version 9.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry k(.param .u64 p)\n{\n"
                                 "  .reg .b64 %rd<3>;\n  .reg .b32 %r<2>;\n"
                                 "  ld.param.u64 %rd1, [p];\n"
                                 "  st.global.relaxed.cluster.u32 [%rd1], %r1;\n  ret;\n}\n");
  const Output legal = program("check --target sm_100 " + file);
  CHECK(legal.code == 0);
  CHECK(legal.out == file + ": legal\n");
  CHECK(program("check --assembler 13 --strict ptxas " + file).out == legal.out);
  const Output earlier = program("check --assembler 11.8 " + file);
  CHECK(earlier.code == 1);
  CHECK(contains(earlier.err, ".version 9.0 is later than the assembler of CUDA 11.8"));
  CHECK(program("check --assembler 11.8 --strict manual " + file).code == 2);
  CHECK(program("check --assembler 12 " + file).code == 2);
  CHECK(program("check --strict ptxas " + file).code == 0);
  const Output older = program("check --target sm_80 " + file);
  CHECK(older.code == 1);
  CHECK(older.err == file +
                         ":1:1: error: the file is for sm_90, which is a later target than sm_80 "
                         "that it is compiled for (--target)\n");
  // The file's own target gates its text, whatever it is compiled for.
  std::string text = slurp(file);
  text.replace(text.find("sm_90"), 5, "sm_80");
  const std::string gated = write("gated.ptx", text);
  CHECK(program("check --target sm_90 " + gated).err ==
        gated + ":9:3: error: `st`: `.cluster` needs .target sm_90 or higher, found sm_80\n");
  const Output manual = program("check --strict manual " + file);
  CHECK(manual.code == 1);
  CHECK(contains(manual.err, "`.relaxed` stands too late"));
  CHECK(program("check --target sm_1 " + file).code == 2);
  CHECK(program("check --strict sloppy " + file).code == 2);
}

TEST_CASE("check --strict manual lints the control fields of SASS") {
  const std::string cubin = LANEWISE_TEST_DATA "/kernels/data/sass/k29_cacheops.cubin";
  const std::string file = write("lint.sass",
                                 "LDG.E R0, [R2] &wr=1 ;\nMOV R4, R0 &req=0 ;\n"
                                 "CCTL.E.PF1 [R2] &wr=0 ;\nEXIT ;\n");
  const Output manual = program("check --strict manual " + file);
  CHECK(manual.code == 1);
  CHECK(contains(manual.err,
                 "lint.sass:2:1: error: R0 is still a result of LDG (line 1), expected "
                 "&req=1 before this"));
  CHECK(contains(manual.err, "lint.sass:3:1: error: CCTL writes no register"));
  const Output vendor = program("check --strict ptxas " + file);
  CHECK(vendor.code == 0);
  CHECK(contains(vendor.err, "lint.sass:3:1: warning: CCTL writes no register"));
  CHECK(program("check --strict manual " + cubin).code == 0);
  CHECK(program("check --target sm_52 " + cubin).code == 2);
  const std::string sparse = write("sparse.sass", "LDG.E P0, R0, [R2] ;\nEXIT ;\n");
  CHECK(program("check --target sm_50 " + sparse).code == 1);
  CHECK(program("check --target sm_52 " + sparse).code == 0);
  CHECK(program("check --target sm_80 " + sparse).code == 2);
}

TEST_CASE("check --report FILE.sarif: what was found, with its lines") {
  const std::string file =
      write("sarif.sass", "LDG.E R0, [R2] &wr=1 ;\n  MOV R4, R0 &req=0 ;\nEXIT ;\n");
  const std::string report = scratch() + "/check.sarif";
  CHECK(program("check --strict manual " + file + " --report " + report).code == 1);
  const json run = json::parse(slurp(report))["runs"][0];
  CHECK(run["tool"]["driver"]["rules"][0]["id"] == "error");
  REQUIRE(run["results"].size() == 1);
  const json found = run["results"][0];
  CHECK(found["ruleId"] == "error");
  CHECK(contains(found["message"]["text"], "R0 is still a result of LDG (line 1)"));
  const json place = found["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == file);
  CHECK(place["region"]["startLine"] == 2);
  CHECK(place["region"]["startColumn"] == 3);
  CHECK(program("check " + file + " --report " + report).code == 0);
  CHECK(json::parse(slurp(report))["runs"][0]["results"].empty());
  CHECK(program("check " + file + " --report out.txt").code == 2);
}

TEST_CASE("disasm --tsv --annotations: control annotations and remarks as columns") {
  const std::string file =
      write("columns.sass", "LDG.E R0, [R2] &wr=1 ?WAIT2 ;\nMOV R4, R0 &req=0 ;\nEXIT ;\n");
  const std::string code = scratch() + "/columns.bin";
  REQUIRE(program("asm " + file + " -o " + code).code == 0);
  const std::string raw = "disasm --raw --isa sass --target sm_50 " + code;
  const Output columns = program(raw + " --tsv --annotations");
  CHECK(columns.code == 0);
  CHECK(contains(columns.out, "\tLDG.E R0, [R2]\t&wr=1 ?WAIT2\t\n"));
  CHECK(contains(columns.out,
                 "\tMOV R4, R0\t&req={0}\tR0 is still a result of LDG (0x0008), "
                 "expected &req=1 before this\n"));
  CHECK(contains(program(raw + " --tsv").out, "\tMOV R4, R0\n"));
  CHECK(program(raw + " --annotations").code == 2);
}

TEST_CASE("coverage lists forms, as text, as JSON and for a list of forms") {
  const json j = json::parse(program("coverage --isa ptx --json").out);
  CHECK(j["isa"] == "ptx");
  CHECK(j["forms"].size() > 500);
  for (const auto& row : j["forms"]) {
    const std::string state = row["state"];
    CHECK((state == "exact" || state == "approximate" || state == "unsupported"));
    if (state != "exact") CHECK(!row["note"].get<std::string>().empty());
  }
  const std::string forms =
      write("forms", "ld.global.v4.f32\nex2.approx.f32\ntex.2d.v4.f32.f32\nfrob\n");
  const Output o = program("coverage --isa ptx --forms " + forms);
  CHECK(o.out ==
        "ld.global.v4.f32\texact\nex2.approx.f32\tapproximate\ntex.2d.v4.f32.f32\tapproximate\n"
        "frob\tunsupported\n");
  const json some = json::parse(program("coverage --isa ptx --json --forms " + forms).out);
  REQUIRE(some["forms"].size() == 4);
  CHECK(some["forms"][1]["form"] == "ex2.approx.f32");
  CHECK(some["forms"][1]["state"] == "approximate");
  CHECK(some["forms"][3]["state"] == "unsupported");
}

TEST_CASE("coverage --waves says how kernels lay their lanes over invocations") {
  const std::string files = kKernels + "saxpy.sm75.ptx " + kKernels + "scan_shfl.sm75.ptx";
  const Output o = program("coverage --device profile:vega10 --waves " + files);
  CHECK(o.code == 0);
  CHECK(contains(o.out, "saxpy\tlane\tno cross-lane operations"));
  CHECK(contains(o.out, "scan_shfl\tpacked\tthe lanes of a wave can be kept together"));
  CHECK(contains(o.err, "0 of 2 kernels run their lanes one after another, 0 are refused"));
  CHECK(program("coverage").code == 2);
  const json j =
      json::parse(program("coverage --device profile:vega10 --json --waves " + files).out);
  REQUIRE(j["kernels"].size() == 2);
  CHECK(j["kernels"][1]["kernel"] == "scan_shfl");
  CHECK(j["kernels"][1]["mode"] == "packed");
  CHECK(j["serial"] == 0);
  const Output both = program("coverage --isa gcn --target gfx803 --waves " + files);
  CHECK(both.code == 2);
  CHECK(contains(both.err, "--target about forms"));
}

TEST_CASE("coverage --waves: a mask in a register does not keep lanes apart") {
  // What every __shfl_up_sync(mask, ...) in a loop is.
  const Output o = program("coverage --device profile:vega10 --waves " + kMasks +
                           "warpsync_mask.ptx " + kMasks + "shfl_mask.ptx");
  CHECK(o.code == 0);
  CHECK(contains(o.err, "0 of 2 kernels run their lanes one after another"));
}

TEST_CASE(
    "coverage --waves: nothing of queues is left where asynchronous copies complete at once") {
  // With late copies a lane may end where its queue is full, and wait in a loop for another one.
  const Output o = program("coverage --device profile:vega10 --block 64 --waves " + kKernels +
                           "tensor.sm80.ptx " + kKernels + "copies.sm80.ptx " + kKernels +
                           "sparse_gemm.sm80.ptx");
  CHECK(o.code == 0);
  CHECK(contains(o.err, "0 of 14 kernels run their lanes one after another"));
  CHECK(contains(o.out, "gemm_f16\tpacked\tthe lanes of a wave can be kept together\n"));
  CHECK(!contains(o.out, "as long as"));
}

TEST_CASE("a member mask of all lanes waits for all lanes: in any iteration, at any depth") {
  const std::string result = scratch() + "/masks.npy";
  for (const char* file : {"full_mask_loop.ptx", "full_mask_recursion.ptx"}) {
    CAPTURE(file);
    const Output o = run(kMasks + file + " --grid 1 --block 32 --arg out:" + result +
                         ":u32[32] --arg u32:4294967295");
    CAPTURE(o.err);
    // Waves that run lane by lane and a stack for each lane are too much for SwiftShader.
    if (contains(o.err, "too large for this driver's compiler")) continue;
    CHECK(o.code == 0);
    const auto got = lanewise::npy::read_array(result);
    CHECK(std::ranges::all_of(got.bytes, [](std::byte b) { return b == std::byte{0xff}; }));
  }
  // In step a wave cannot let lanes wait; it says so.
  const Output o = run(kMasks + "full_mask_loop.ptx --wave packed --block 32 --arg out:" + result +
                       ":u32[32] --arg u32:4294967295");
  if (std::string_view(device()) == "reference") {
    CHECK(o.code == 0);
  } else {
    CHECK(o.code == 1);
    CHECK(contains(o.err, "lanes 0x11111111 wait here for lanes 0xeeeeeeee of their member mask"));
    CHECK(contains(o.err, "--wave serial"));
  }
}

TEST_CASE("translate shows every stage") {
  const std::string file = kKernels + "saxpy.sm75.ptx";
  const Output ir = program("translate --emit ir " + file);
  CHECK(ir.code == 0);
  CHECK(contains(ir.out, "ffma"));
  const Output nowhere = program("translate --emit ir --device nowhere " + file);
  CHECK(nowhere.code == 3);
  CHECK(contains(nowhere.err, "'nowhere'"));
  const Output none = program("translate --emit spirv " + file);
  CHECK(none.code == 2);
  if (std::string(device()) == "reference") return;
  const std::string on = std::string(" --device '") + device() + "' --block 64 ";
  const Output text = program("translate" + on + file);
  CHECK(text.code == 0);
  CHECK(contains(text.out, "OpEntryPoint GLCompute"));
  const std::string binary = scratch() + "/saxpy.spv";
  CHECK(program("translate --emit spirv -o " + binary + on + file).code == 0);
  const auto words = read_bin<uint32_t>(binary);
  REQUIRE(!words.empty());
  CHECK(words[0] == 0x07230203);
}
