// Runs every stream script of a folder on one device (LANEWISE_TEST_DEVICE). A case that a Vulkan
// device refuses counts as not supported; the reference engine must run them all.
#include <fmt/format.h>

#include <cstdlib>

#include "runtime/api/state.hpp"
#include "runtime/script/suite.hpp"

using namespace lanewise;

namespace {

void print_case(const std::string& file, const script::CaseResult& r, script::Verdict) {
  for (const auto* list : {&r.diagnostics, &r.failures})
    for (const Diagnostic& d : *list) fmt::print("\"{}\": {}\n", r.name, format(file, d));
  if (!r.unsupported.empty())
    fmt::print("{}:{}: \"{}\" not supported: {}\n", file, r.line, r.name, r.unsupported);
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
    const script::SuiteCount counts = script::run_suite(argv[1], *engine, print_case);
    fmt::print("{}: {} passed, {} failed, {} not supported\n", engine->info().name, counts.passed(),
               counts.failed(), counts.unsupported());
    return counts.failed() == 0 && counts.passed() != 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 3;
  }
}
