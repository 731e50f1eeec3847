// Runs every stream script of a folder on one device (LANEWISE_TEST_DEVICE), or of N parts of them
// the one with number K. A case that a Vulkan
// device refuses counts as not supported; the reference engine must run them all.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/api/objects/objects.hpp"
#include "runtime/script/run/suite.hpp"

using namespace lanewise;

namespace {

void print_case(const std::string& file, const script::CaseResult& r, script::Verdict) {
  for (const auto* list : {&r.diagnostics, &r.failures})
    for (const Diagnostic& d : *list) fmt::print("\"{}\": {}\n", r.name, format(file, d));
  if (!r.unsupported.empty())
    fmt::print("{}:{}: \"{}\" not supported: {}\n", file, r.line, r.name, r.unsupported);
}

/// Of every `parts` files the one with number `part`.
std::vector<std::string> chosen(const char* folder, size_t part, size_t parts) {
  std::vector<std::string> files;
  size_t number = 0;
  for (const std::string& file : script::scripts_in(folder))
    if (number++ % parts == part) files.push_back(file);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  size_t part = 0, parts = 1;
  const bool usual =
      argc == 2 || (argc == 3 && std::sscanf(argv[2], "%zu/%zu", &part, &parts) == 2);
  if (!usual || parts == 0) {
    fmt::print(stderr, "usage: {} FOLDER [K/N]\n", argv[0]);
    return 2;
  }
  try {
    const char* device = std::getenv("LANEWISE_TEST_DEVICE");
    const auto engine = host::open_engine(device != nullptr ? device : "reference");
    const script::SuiteCount counts =
        script::Suite(chosen(argv[1], part, parts)).run(*engine, print_case);
    fmt::print("{}: {} passed, {} failed, {} not supported\n", engine->info().name, counts.passed(),
               counts.failed(), counts.unsupported());
    return counts.failed() == 0 && counts.passed() != 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 3;
  }
}
