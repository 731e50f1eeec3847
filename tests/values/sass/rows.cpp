// Every row of the instruction table has its case, and every modifier that can run stands in one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/values/sass/sass.hpp"

namespace values::sass {

namespace {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& cases :
       {integer::cases, logic::cases, singles::cases, convert::cases, mufu::cases, doubles::cases,
        multiply::cases, predicate::cases, video::cases, misc::cases, control::cases, half::cases})
    for (Case& c : cases()) all.push_back(std::move(c));
  return all;
}

/// What works by memory, order or ending: proven by tests of other kinds.
const std::vector<Elsewhere>& elsewhere() {
  static const std::vector<Elsewhere> list = {
      {"LDG*", "fuzz/streams/family_sass.cpp", "LDG",
       "memory: random streams against tests/oracle/sass_address.hpp"},
      {"STG*", "fuzz/streams/family_sass.cpp", "STG",
       "memory: random streams against tests/oracle/sass_address.hpp"},
      {"LD R*", "fuzz/streams/family_sass.cpp", "LD",
       "memory: random streams against tests/oracle/sass_address.hpp"},
      {"ST []*", "fuzz/streams/family_sass.cpp", "ST",
       "memory: random streams against tests/oracle/sass_address.hpp"},
      {"LDL*", "unit/sass/memory.cpp", "LDL", "memory: values checked there"},
      {"STL*", "unit/sass/memory.cpp", "STL", "memory: values checked there"},
      {"LDS*", "unit/sass/memory.cpp", "LDS", "memory: values checked there"},
      {"STS*", "unit/sass/memory.cpp", "STS", "memory: values checked there"},
      {"LDC*", "conformance/sass_constant.lw", "LDC", "memory: a stream script"},
      {"ATOM *", "fuzz/streams/family_sass_atomic.cpp", "ATOM",
       "memory: random streams against tests/oracle/sass_atomic.hpp"},
      {"RED*", "fuzz/streams/family_sass_atomic.cpp", "RED",
       "memory: random streams against tests/oracle/sass_atomic.hpp"},
      {"ATOMS*", "unit/sass/memory.cpp", "ATOMS", "memory: values checked there"},
      {"CCTL*", "conformance/sass_cctl.lw", "CCTL", "cache events, no values"},
      {"MEMBAR*", "conformance/sass_cctl.lw", "MEMBAR", "order, no values"},
      {"EXIT*", "conformance/sass_wide.lw", "EXIT", "ends lanes, with and without a test of flags"},
      {"KIL*", "conformance/sass_pixel.lw", "KIL", "takes the right to store, no values"},
      {"BPT.TRAP*", "conformance/sass_faults.lw", "BPT.TRAP", "a fault, no values"},
      {"BRX*", "kernels/sass_switch.cpp", "k30_switch", "a compiled switch runs there"},
      {"JMX*", "pairs/calls.cpp", "indirect", "pointers to functions lead there"},
      {"JMP*", "unit/sass/run.cpp", "JMP", "leaves for a function that a relocation names"},
      {"JCAL*", "pairs/language.cpp", "separate", "functions of linked device code run there"},
      {"DEPBAR*", "unit/sass/lint.cpp", "DEPBAR", "waits for a scoreboard, no values"},
      {"TEX*", "unit/sass/textures.cpp", "TEX", "textures: against tests/oracle/texture.hpp"},
      {"TLD*", "unit/sass/textures.cpp", "TLD", "textures: against tests/oracle/texture.hpp"},
      {"TXD*", "unit/sass/textures.cpp", "TXD", "textures: against tests/oracle/texture.hpp"},
      {"TXQ*", "unit/sass/textures.cpp", "TXQ", "what the host made"},
      {"SU*", "unit/sass/textures.cpp", "SULD", "surfaces: against the host's memory"},
      {"H*", "unit/sass/half.cpp", "c[0x2]", "constants of a file: values checked there"},
      {"NOP", "unit/sass/text.cpp", "NOP", "the word 0: decoded only, no text"}};
  return list;
}

std::vector<std::string> complaints_of(std::span<const Case> cases) {
  static const std::vector<TableRow> rows = table_rows();
  return complaints(rows, cases, elsewhere(), LANEWISE_TEST_DATA);
}

}  // namespace

TEST_CASE("values: every row of the table has a case") {
  for (const std::string& c : complaints_of(all_cases())) FAIL_CHECK(c);
}

TEST_CASE("values: a row whose cases are taken out is missed") {
  const std::vector<Case> all = all_cases();
  for (const char* row : {"FADD R, R, c[]", "MUFU R, R .COS", "SYNC CC.T"}) {
    std::vector<Case> rest;
    std::ranges::copy_if(all, std::back_inserter(rest),
                         [&](const Case& c) { return c.row != row; });
    REQUIRE(rest.size() < all.size());
    const std::vector<std::string> found = complaints_of(rest);
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with(std::string(row) + ": has no value case"));
  }
}

TEST_CASE("values: every modifier that can run stands in a case") {
  all_cases();
  for (const std::string& c : missing_modifiers()) FAIL_CHECK(c);
}

}  // namespace values::sass
