// What real compilers emit parses without a word.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/isa/ptx/ast.hpp"

using namespace lanewise;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t count_instructions(const ptx::Scope& scope) {
  size_t count = 0;
  for (const ptx::Statement& s : scope.statements) {
    if (std::holds_alternative<ptx::Instruction>(s)) ++count;
    if (const auto* inner = std::get_if<std::unique_ptr<ptx::Scope>>(&s)) {
      count += count_instructions(**inner);
    }
  }
  return count;
}

}  // namespace

TEST_CASE("compiled kernels parse without diagnostics") {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(LANEWISE_TEST_DATA "/kernels/data/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().filename().string());
    ++files;
    const ptx::ParseResult r = ptx::parse(read(entry.path()));
    for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line, ":", d.column, ": ", d.message);
    CHECK(r.module.target.starts_with("sm_"));
    CHECK(r.module.address_size == 64);
    size_t kernels = 0;
    for (const ptx::Function& f : r.module.functions) {
      kernels += f.entry ? 1 : 0;
      if (f.is_extern) continue;
      CHECK(f.has_body);
      CHECK(count_instructions(f.body) > 0);
    }
    CHECK(kernels > 0);
  }
  CHECK(files == 55);
}

TEST_CASE("a compiled kernel keeps its shape") {
  const ptx::ParseResult r =
      ptx::parse(read(LANEWISE_TEST_DATA "/kernels/data/ptx/calls.sm75.ptx"));
  REQUIRE(r.diagnostics.empty());
  CHECK(r.module.version_major == 9);
  CHECK(r.module.version_minor == 0);
  REQUIRE(r.module.variables.size() == 1);
  const ptx::Variable& table = r.module.variables[0];
  CHECK(table.name == "table");
  CHECK(table.align == 8);
  REQUIRE(table.init.size() == 2);
  CHECK(table.init[0].value.name == "_Z2g0ff");
  // The two declarations at the top gave way to the definitions.
  REQUIRE(r.module.functions.size() == 8);
  CHECK(r.module.functions[0].name == "_Z2g0ff");
  CHECK(r.module.functions[0].has_body);
  CHECK(r.module.functions[0].params.size() == 2);
}
