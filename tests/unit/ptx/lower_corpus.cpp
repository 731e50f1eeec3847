// Every compiled kernel of the corpus becomes IR that the verifier accepts.
#include <doctest/doctest.h>

#include "tests/unit/ptx/lower_support.hpp"

using namespace lanewise;
using namespace lanewise::ptx::test;

TEST_CASE("compiled kernels lower without diagnostics and verify") {
  size_t kernels = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(LANEWISE_TEST_DATA "/kernels/data/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().filename().string());
    const ptx::LowerResult r = lower_text(read_file(entry.path()));
    CHECK(text(r.diagnostics).empty());
    for (const ir::Program& p : r.module.kernels) {
      CAPTURE(p.name);
      for (const std::string& problem : ir::verify(p)) FAIL_CHECK(problem);
      CHECK(p.blocks.size() >= 1);
      CHECK(p.sites.size() > 3);
      CHECK(p.param_bytes > 0);
      ++kernels;
    }
  }
  CHECK(kernels >= 33);
}

TEST_CASE("layout of parameters, shared and local memory") {
  const auto local =
      lower_text(read_file(LANEWISE_TEST_DATA "/kernels/data/ptx/localarr.clang.ptx"));
  const ir::Program& p = local.module.kernels.at(0);
  CHECK(p.local_bytes == 256);
  REQUIRE(p.params.size() == 3);
  CHECK(p.params[1].offset == 8);
  CHECK(p.params[2].offset == 16);
  CHECK(p.param_bytes == 20);
  const auto dyn = lower_text(read_file(LANEWISE_TEST_DATA "/kernels/data/ptx/dynshared.sm75.ptx"));
  CHECK(dyn.module.kernels.at(0).shared_bytes == 0);
  const auto calls = lower_text(read_file(LANEWISE_TEST_DATA "/kernels/data/ptx/calls.sm75.ptx"));
  CHECK(calls.module.functions == std::vector<std::string>{"_Z2g0ff", "_Z2g1ff"});
  REQUIRE(calls.module.globals.size() == 1);
  CHECK(calls.module.globals[0].relocs.size() == 2);
}
