// Programs that ptxas made of random C (tests/fuzz/small_types), and lines of the source.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

std::string file_bytes(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/" + name, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), name);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

sass::LowerResult lowered_cubin(const std::string& cubin) {
  const sass::Listing l = sass::read_cubin(std::as_bytes(std::span(cubin)));
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
  sass::LowerResult r = sass::lower(l);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  return r;
}

std::vector<uint32_t> words_of(const std::string& bytes) {
  std::vector<uint32_t> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), 4 * out.size());
  return out;
}

/// "file:line" of the only instruction that has this.
std::string source_of(const ir::Module& module, const std::string& kernel,
                      const std::string& text) {
  const auto p = std::ranges::find(module.kernels, kernel, &ir::Program::name);
  REQUIRE(p != module.kernels.end());
  std::string found;
  for (const ir::Site& s : p->sites) {
    if (s.text.find(text) == std::string::npos) continue;
    CHECK(found.empty());
    found = s.source_file + ":" + std::to_string(s.source_line);
  }
  return found;
}

}  // namespace

TEST_CASE("compiled programs of small types give the host's values") {
  // 20102 and 20363: banks of constants with tables of several switches, and numbers like
  // addresses.
  constexpr uint32_t kLanes = 16, kInputs = 4 * kLanes;
  size_t programs = 0;
  const std::string folder = "pairs/data/small_types/";
  for (const auto& entry : std::filesystem::directory_iterator(LANEWISE_TEST_DATA "/" + folder)) {
    if (entry.path().extension() != ".cubin") continue;
    ++programs;
    const std::string name = folder + entry.path().stem().string();
    CAPTURE(name);
    const sass::LowerResult r = lowered_cubin(file_bytes(name + ".cubin"));
    REQUIRE(r.module.kernels.size() == 1);
    const std::vector<uint32_t> values = words_of(file_bytes(name + ".values"));
    const std::vector<uint32_t> in(values.begin(), values.begin() + kInputs),
        want(values.begin() + kInputs, values.end());
    test::Bench bench;
    std::map<std::string, uint64_t> places;
    for (const ir::Global& g : r.module.globals) places[g.name] = bench.put(g.init);
    ir::Program program = r.module.kernels[0];
    ir::bind_symbols(program, [&](const ir::Symbol& s) { return places.at(s.name); });
    const uint64_t from = bench.put(in), to = bench.put(std::vector<uint32_t>(want.size()));
    bench.arg(from).arg(to);
    CHECK(bench.run(program, 1, kLanes).fault_count == 0);
    CHECK(bench.get<uint32_t>(to, want.size()) == want);
  }
  CHECK(programs == 5);
}

TEST_CASE("instructions of a cubin name the lines of their source") {
  const std::string folder = "kernels/data/sass/lines/";
  for (const std::string name : {"lines.cubin", "lines.rdc.cubin"}) {
    CAPTURE(name);
    const ir::Module m = lowered_cubin(file_bytes(folder + name)).module;
    CHECK(source_of(m, "k", "LDG.E") == "src/lines.cu:11");
    CHECK(source_of(m, "k", "+0x40]") == "src/step.h:5");
    CHECK(source_of(m, "k", "STG.E [R2], R4") == "src/lines.cu:300");
    CHECK(source_of(m, "k", "RET") == "src/step.h:6");
    CHECK(source_of(m, "other", "STG.E") == "src/lines.cu:320");
    CHECK(source_of(m, "other", "EXIT") == "src/lines.cu:321");
  }
}
