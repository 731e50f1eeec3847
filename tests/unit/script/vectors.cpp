// Vector registers of PTX in scripts, and structs as kernel arguments.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/reference/reference.hpp"
#include "runtime/script/script.hpp"
#include "tests/support/contains.hpp"

using namespace lanewise;

namespace {

/// Every message of the script's cases, "LINE:COLUMN: message" a line; empty when all pass.
std::string run(const std::string& source, const std::string& folder = {}) {
  std::string text;
  const auto add = [&](const std::vector<Diagnostic>& list) {
    for (const Diagnostic& d : list)
      text += std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message + "\n";
  };
  const script::Script s = script::parse(source, 0);
  add(s.diagnostics);
  const auto engine = reference::make_engine();
  script::RunOptions options;
  options.directory = folder;
  for (const script::Case& c : s.cases) {
    const script::CaseResult r = script::run(c, *engine, options);
    add(r.diagnostics);
    add(r.failures);
  }
  return text;
}

std::string ptx(const std::string& before, const std::string& code, const std::string& after) {
  return "isa ptx\nbuffer b f32[256] = iota\ncase \"c\" {\n" + before + "\ncode \"\"\"\n" + code +
         "\n\"\"\"\n" + after + "\n}\n";
}

}  // namespace

TEST_CASE("vector registers: components in, components and the whole out") {
  CHECK(run(ptx("reg .b64 %a = b + 8 * lane\nreg .v2 .f32 %v", "ld.global.v2.f32 %v, [%a];",
                "expect %v.x == 2 * lane\nexpect %v.y == 2 * lane + 1\n"
                "expect %v == words(bits(f32(2 * lane)), bits(f32(2 * lane + 1)))")) == "");
  CHECK(run(ptx("reg .b64 %a = b + 16 * lane\nreg .v4 .f32 %v = {1.5, lane, 3, 4 + lane}",
                "st.global.v4.f32 [%a], %v;",
                "expect b[0..127] == i % 4 == 0 ? 1.5 : i % 4 == 1 ? i / 4 : i % 4 == 2 ? 3 : 4 + "
                "i / 4")) == "");
  CHECK(
      run(ptx("reg .v2 .b16 %h = {0x1234 + lane, 7}, %g\nreg %g.y = 9\nreg .b32 %x, %y",
              "cvt.u32.u16 %x, %h.x;\ncvt.u32.u16 %y, %g.y;",
              "expect %x == 0x1234 + lane\nexpect %y == 9\nexpect %h.y == 7\nexpect %g.x == 0")) ==
      "");
}

TEST_CASE("vector registers: what is wrong") {
  const auto declared = [](const std::string& line, const std::string& expectation = "") {
    return run(ptx(line, "", expectation));
  };
  CHECK(has(declared("reg .v2 %v"), "4:9: expected the type of the vector's elements"));
  CHECK(has(declared("reg .v2 .f32 %v = {1}"), "4:19: '%v' has 2 components, 1 values are given"));
  CHECK(has(declared("reg .v2 .f32 %v = 1"), "4:19: expected '{'"));
  CHECK(has(declared("reg .v2 .b64 %v", "expect %v == 0"), "name a component, as in %v.x"));
  CHECK(has(declared("reg .v2 .b32 %v", "expect %v.z == 0"), "register '%v.z' is not declared"));
  CHECK(has(declared("reg .v2 .b32 %v", "expect %v.x == 1"),
            "lane 0: expected 0x00000001 (1), found 0x00000000 (0)"));
  CHECK(has(declared("reg .v2 .b32 %v", "expect %v == words(1, 2)"),
            "lane 0: expected 0x00000001 0x00000002, found 0x00000000 0x00000000"));
}

TEST_CASE("a struct by value is given as words") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("lanewise-struct-" + std::to_string(std::rand()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "k.ptx") << R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry sum(.param .align 4 .b8 s[12], .param .u64 p) {
  .reg .b64 %a; .reg .b32 %x, %y;
  ld.param.u64 %a, [p]; ld.param.u32 %x, [s+4]; ld.param.u32 %y, [s+8];
  sub.u32 %x, %x, %y; st.global.u32 [%a], %x;
  ret;
})";
  const auto launched = [&](const std::string& args, const std::string& expected) {
    return run("case \"s\" {\nmodule \"k.ptx\"\nbuffer x u32[1]\nlaunch sum args " + args +
                   "\nexpect x == " + expected + "\n}",
               folder.string());
  };
  CHECK(launched("words(1, 100, 30), x", "70") == "");
  CHECK(has(launched("words(1, 100, 30), x", "71"), "expected 0x00000047 (71)"));
  CHECK(has(launched("words(1, 100), x", "70"), "words"));
  CHECK(has(launched("u32 7, x", "70"), "struct of 12 bytes"));
  std::filesystem::remove_all(folder);
}
