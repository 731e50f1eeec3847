// The forms that public kernels use most are supported.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/unit/ptx/lower_support.hpp"

using namespace lanewise;
using namespace lanewise::ptx::test;

namespace {

struct UsedForm {
  int rank;
  std::string form;
};

std::vector<UsedForm> used_forms(const std::string& file) {
  std::istringstream in(read_file(LANEWISE_TEST_DATA "/data/opcodes/" + file));
  std::string line;
  std::getline(in, line);
  std::vector<UsedForm> forms;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    forms.push_back({std::stoi(cells.at(0)), cells.at(1)});
  }
  return forms;
}

void check_forms(const std::string& file) {
  const std::vector<UsedForm> forms = used_forms(file);
  REQUIRE(forms.size() > 300);
  for (const UsedForm& f : forms) {
    const ptx::Coverage c = ptx::coverage_of(f.form);
    CAPTURE(f.rank);
    CAPTURE(f.form);
    CAPTURE(c.note);
    CHECK(c.state != ptx::FormState::unsupported);
  }
}

}  // namespace

TEST_CASE("forms of sm_50 kernels are supported") {
  check_forms("ptx50.tsv");
}

TEST_CASE("forms of sm_75 kernels are supported") {
  check_forms("ptx75.tsv");
}

TEST_CASE("the coverage list agrees with single answers and names every form once") {
  std::set<std::string> seen;
  size_t exact = 0, approximate = 0, unsupported = 0;
  for (const ptx::Coverage& c : ptx::coverage()) {
    CAPTURE(c.form);
    CHECK(seen.insert(c.form).second);
    CHECK(ptx::coverage_of(c.form).state == c.state);
    exact += c.state == ptx::FormState::exact;
    approximate += c.state == ptx::FormState::approximate;
    unsupported += c.state == ptx::FormState::unsupported;
    if (c.state != ptx::FormState::exact) CHECK_FALSE(c.note.empty());
  }
  CHECK(exact > 1000);
  CHECK(approximate > 10);
  CHECK(unsupported > 20);
  CHECK(seen.contains("ld.global.v4.f32"));
  CHECK(seen.contains("setp.ltu.and.f32"));
}

TEST_CASE("forms are answered in any order of qualifiers") {
  CHECK(ptx::coverage_of("ld.v4.f32.global").state == ptx::FormState::exact);
  CHECK(ptx::coverage_of("atom.add.u32.gpu.relaxed.global").state == ptx::FormState::exact);
  CHECK(ptx::coverage_of("ex2.f32.approx").state == ptx::FormState::approximate);
  CHECK(ptx::coverage_of("ld.shared.v4.f64").state == ptx::FormState::unsupported);
  CHECK(ptx::coverage_of("ld.shared.v4.f64").note.find("256 bits") != std::string::npos);
  CHECK(ptx::coverage_of("frobnicate.u32").note ==
        "`frobnicate` is no instruction of PTX, a known one was expected");
  CHECK(ptx::coverage_of("").state == ptx::FormState::unsupported);
  CHECK(ptx::coverage_of("add..s32").state == ptx::FormState::unsupported);
  CHECK(ptx::coverage_of("add.s32.").state == ptx::FormState::unsupported);
}
