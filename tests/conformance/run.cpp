// Runs every stream script of a folder on one device (LANEWISE_TEST_DEVICE). A case that a Vulkan
// device refuses counts as not supported; the reference engine must run them all.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "runtime/api/loader.hpp"
#include "runtime/api/state.hpp"
#include "runtime/script/script.hpp"

using namespace lanewise;

namespace {

struct Counts {
  size_t passed = 0, failed = 0, unsupported = 0;
};

std::vector<std::string> scripts_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".lw") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

void print_all(const std::string& file, const std::string& name,
               const std::vector<Diagnostic>& list) {
  for (const Diagnostic& d : list) fmt::print("\"{}\": {}\n", name, format(file, d));
}

void run_file(const std::string& file, Engine& engine, Counts& counts) {
  const script::Script s = script::parse(detail::read_file(file), 0);
  print_all(file, "script", s.diagnostics);
  if (!s.ok()) ++counts.failed;
  script::RunOptions options;
  options.directory = std::filesystem::path(file).parent_path().string();
  for (const script::Case& c : s.cases) {
    const script::CaseResult r = script::run(c, engine, options);
    const bool may_refuse = engine.info().type != "reference";
    print_all(file, r.name, r.diagnostics);
    print_all(file, r.name, r.failures);
    if (!r.unsupported.empty())
      fmt::print("{}:{}: \"{}\" not supported: {}\n", file, r.line, r.name, r.unsupported);
    if (r.ok())
      ++counts.passed;
    else if (may_refuse && r.diagnostics.empty() && r.failures.empty())
      ++counts.unsupported;
    else
      ++counts.failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  try {
    const char* device = std::getenv("LANEWISE_TEST_DEVICE");
    const auto engine = detail::open_engine(device != nullptr ? device : "reference");
    Counts counts;
    for (const std::string& file : scripts_in(argv[1])) run_file(file, *engine, counts);
    fmt::print("{}: {} passed, {} failed, {} not supported\n", engine->info().name, counts.passed,
               counts.failed, counts.unsupported);
    return counts.failed == 0 && counts.passed != 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 3;
  }
}
