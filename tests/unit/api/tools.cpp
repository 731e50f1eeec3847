// The C++ API beside launches: check, assembler, coverage, the cache tracker and traces.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "lanewise/cache.hpp"
#include "lanewise/tools.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/api/support.hpp"

using namespace lanewise;
using namespace api_test;

namespace {

/// A file name of this process's own; what is there goes with the test.
struct Scratch {
  std::string path;
  explicit Scratch(const std::string& name)
      : path((std::filesystem::temp_directory_path() /
              ("lanewise-api-" + std::to_string(getpid()) + "-" + name))
                 .string()) {}
  ~Scratch() {
    std::error_code ec;
    std::filesystem::remove(path, ec);
  }
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The device's memory is of no interest, only that the kernel has run.
void run_scale(Device& device) {
  const Kernel kernel = device.load_text(kScale, Isa::ptx).kernel();
  Buffer p = device.allocate(4096);
  kernel.launch({.grid = {4}, .block = {256}}, p, 1.0F, 1000U).check();
}

template <typename Call>
ErrorDetail detail_of_call(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return detail_of(e);
  }
  return ErrorDetail::none;
}

}  // namespace

TEST_CASE("C++: a check gives kernels or defects, and judges legality alone where that is asked") {
  const Checked good = check_program(kScale, {.name = "scale.ptx"});
  CHECK(good.ok);
  CHECK(good.kernels == 1);
  CHECK(good.diagnostics.empty());
  const Checked bad = check_program(kHeader + ".visible .entry f() { frob.u32 %r1; }\n");
  CHECK(!bad.ok);
  CHECK(bad.kernels == 0);
  REQUIRE(bad.diagnostics.size() == 1);
  CHECK(bad.diagnostics[0].line == 4);
  CHECK(check_program(kScale, {.strict = Strictness::assembler}).ok);
  CHECK(check_program(kScale, {.strict = Strictness::manual}).ok);
  // The file's own target gates its text; it is compiled for later ones, not for earlier ones.
  CHECK(check_program(kScale, {.target = "sm_90"}).ok);
  CHECK(!check_program(kScale, {.target = "sm_70"}).ok);
  CHECK_THROWS_AS(check_program(kScale, {.target = "sm_1"}), Error);
  CHECK_THROWS_WITH_AS(check_program("what is this", {.name = "no.idea"}),
                       doctest::Contains("no.idea"), Error);

  std::string many = kHeader + ".visible .entry f()\n{\n  .reg .b32 %r;\n";
  for (int i = 0; i < 150; ++i) many += "  frob.u32 %r;\n";
  many += "  ret;\n}\n";
  CHECK(check_program(many).diagnostics.size() == 100);
  CHECK(check_program(many, {.max_errors = 7}).diagnostics.size() == 7);
  CHECK(check_program(many, {.max_errors = 0}).diagnostics.size() == 150);
}

TEST_CASE("C++: code and rows of an assembler; what cannot be disassembled keeps the rest") {
  const Code made =
      assemble("s_mov_b32 s0, 1\ns_endpgm\n", {.isa = "gcn", .target = "gfx803", .rows = true});
  REQUIRE(made.ok);
  CHECK(made.data == std::string("\x81\x00\x80\xbe\x00\x00\x81\xbf", 8));
  CHECK(made.rows == "0000\t810080be\ts_mov_b32 s0, 1\n0004\t000081bf\ts_endpgm\n");
  CHECK(assemble("s_endpgm\n", {.isa = "gcn"}).rows.empty());
  // The language by the name's ending.
  CHECK(assemble("s_endpgm\n", {.name = "end.gcn"}).data.size() == 4);
  const Code bad = assemble("frob\n", {.isa = "gcn"});
  CHECK(!bad.ok);
  CHECK(bad.diagnostics.size() == 1);
  CHECK(bad.data.empty());

  const CodeOptions raw = {.isa = "gcn", .target = "gfx803", .raw = true, .rows = true};
  const Code back = disassemble(made.data, raw);
  CHECK(back.ok);
  CHECK(back.rows == made.rows);
  // A word that no form has: what is reported of it, and the text of the others all the same.
  const Code mixed = disassemble(std::string(4, '\xff') + made.data, raw);
  CHECK(!mixed.diagnostics.empty());
  CHECK(mixed.data.find("s_mov_b32 s0, 1") != std::string::npos);

  CHECK(detail_of_call([] { disassemble("abcd"); }) == ErrorDetail::format);
  CHECK(detail_of_call([] { disassemble("abcd", {.raw = true}); }) == ErrorDetail::null_argument);
  CHECK(detail_of_call([] { assemble("", {.isa = "ptx"}); }) == ErrorDetail::invalid_value);

  const std::string cubin = slurp(LANEWISE_TEST_DATA "/kernels/data/sass/k01_saxpy.cubin");
  const Code sass = disassemble(cubin, {.rows = true, .remarks = true});
  REQUIRE(sass.ok);
  const std::string first = sass.rows.substr(0, sass.rows.find('\n'));
  CHECK(std::count(first.begin(), first.end(), '\t') == 4);
  CHECK(assemble(sass.data, {.isa = "sass"}).ok);
}

TEST_CASE("C++: coverage tables, their target, and single forms") {
  const CoverageTable gcn = coverage("gcn", "gfx803");
  CHECK(gcn.target == "gfx803");
  CHECK(gcn.forms.size() > 500);
  CHECK(coverage("gcn").target == "gfx600");
  CHECK(coverage("ptx").target.empty());
  // Each form alone is translated: what takes long under ThreadSanitizer, and is no matter of
  // threads.
  const size_t step = lanewise::test::kThreadSanitized ? 40 : 1;
  for (size_t i = 0; i < gcn.forms.size(); i += step) {
    const FormCoverage& f = gcn.forms[i];
    CAPTURE(f.form);
    CHECK(coverage_of("gcn", f.form, "gfx803").state == f.state);
    CHECK((f.state == "exact" || f.state == "approximate" || f.state == "unsupported"));
  }
  CHECK(coverage_of("ptx", "ld.global.v4.f32").state == "exact");
  CHECK(coverage_of("gcn", "s_mov_b32 s0, 1").state == "exact");
  // Text that is no form, as a file of forms may hold it.
  for (const std::string& odd : {std::string("no\tform\texact"), std::string("add.f32\0x", 9),
                                 std::string("two\nlines"), std::string()}) {
    CHECK(coverage_of("ptx", odd).form == odd);
    CHECK(coverage_of("ptx", odd).state == "unsupported");
  }
  CHECK_THROWS_AS(coverage("x86"), Error);
  CHECK_THROWS_AS(coverage("gcn", "gfx1"), Error);
}

TEST_CASE("C++: a tracker and a trace file follow launches; the trace read again says the same") {
  const Scratch file("a.lwt"), converted("a.din");
  Device device = Device::open(selector());
  Cache live = Cache::follow(device, {.presets = {"gv100", "sm50-silicon"},
                                      .compare = true,
                                      .reuse = true,
                                      .sets = true,
                                      .trace_file = file.path});
  CHECK_THROWS_AS(Cache::follow(device, {.presets = {"gv100"}}), Error);
  run_scale(device);
  CHECK(!std::filesystem::exists(file.path));  // whole, or not there
  live.finish();
  live.finish();
  CHECK(std::filesystem::file_size(file.path) > 100);
  const std::string seen = live.report("csv");
  run_scale(device);
  CHECK(live.report("csv") == seen);

  uint64_t reported = 0;
  const Cache read = Cache::read(file.path, {.presets = {"gv100", "sm50-silicon"},
                                             .compare = true,
                                             .reuse = true,
                                             .sets = true,
                                             .progress = [&](uint64_t done, uint64_t whole) {
                                               reported = done <= whole ? 1 : 2;
                                             }});
  CHECK(reported < 2);
  CHECK(read.facts().complete);
  CHECK(read.facts().events > 0);
  CHECK(read.facts().warnings.empty());
  CHECK(read.report("csv") == seen);
  CHECK(read.matches("any") == live.matches("any"));

  const Cache lines = Cache::read(file.path, {.trace_file = converted.path});
  CHECK(lines.facts().events == read.facts().events);
  const std::string din = slurp(converted.path);
  CHECK(std::count(din.begin(), din.end(), '\n') == 2000);  // a load and a store of each thread
  CHECK_THROWS_AS(lines.report("txt"), Error);
}

TEST_CASE("C++: what a tracker refuses, and what a progress function throws") {
  CHECK_THROWS_AS(Cache::check_rule("H99"), Error);
  CHECK_NOTHROW(Cache::check_rule("H1"));
  CHECK_THROWS_WITH_AS(Cache().report("txt"), doctest::Contains("empty Cache handle"), Error);
  Device device = Device::open(selector());
  CHECK(detail_of_call([&] { Cache::follow(device, {}); }) == ErrorDetail::null_argument);
  CHECK_THROWS_AS(Cache::follow(device, {.presets = {"no-such-gpu"}}), Error);
  CHECK_THROWS_AS(Cache::follow(device, {.trace_file = "a.unknown"}), Error);
  CHECK_THROWS_AS(Cache::follow(device, {.presets = {"gv100"}, .exact = true, .reuse = true}),
                  Error);
  CHECK_THROWS_AS(Cache::read("/no/such.lwt", {.presets = {"gv100"}}), Error);

  const Scratch file("long.din");
  {
    std::ofstream out(file.path);
    for (int i = 0; i < 400000; ++i) out << "0 " << std::hex << 4096 + i % 4096 * 4 << "\n";
  }
  CHECK_THROWS_WITH_AS(
      Cache::read(file.path,
                  {.presets = {"gv100"},
                   .progress = [](uint64_t, uint64_t) { throw std::runtime_error("enough"); }}),
      "enough", std::runtime_error);
  CHECK_THROWS_AS(
      Cache::read(file.path, {.presets = {"gv100"}, .policies = {"trace.resident=none"}}), Error);
}

TEST_CASE("C++: presets by name, and a preset's file is a preset") {
  const auto presets = cache_presets();
  REQUIRE(presets.size() > 3);
  for (const auto& preset : presets) {
    const std::string &name = preset.first, &title = preset.second;
    CAPTURE(name);
    CHECK(!title.empty());
    CHECK(cache_preset(name).find(name) != std::string::npos);
  }
  const Scratch file("mine.json");
  std::ofstream(file.path) << cache_preset("gv100", "json");
  CHECK(cache_preset("file:" + file.path, "json") == cache_preset("gv100", "json"));
  CHECK_THROWS_AS(cache_preset("no-such-gpu"), Error);
  CHECK_THROWS_AS(cache_preset("gv100", "xml"), Error);
}
