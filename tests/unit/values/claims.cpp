// The walk over an instruction table notices what is missing.
#include "tests/values/claims.hpp"

#include <doctest/doctest.h>

using namespace values;
using lanewise::isa::Claim;

namespace {

Case named(const std::string& row) {
  Case c;
  c.row = row;
  c.tuples = {{0}};
  return c;
}
Case bounded(const std::string& row) {
  Case c = named(row);
  c.bound = Bound{"1 ulp", [](In, In) { return true; }};
  return c;
}

const std::vector<TableRow> kRows = {{"add", Claim::exact, true},
                                     {"rcp", Claim::approximate, true},
                                     {"store", Claim::effect, true},
                                     {"texture", Claim::none, false}};
const std::vector<Case> kCases = {named("add"), named("rcp"), bounded("rcp")};
const std::vector<Elsewhere> kElsewhere = {
    {"st*", "unit/values/claims.cpp", "kElsewhere", "memory: a test of the test"}};

std::vector<std::string> found(const std::vector<TableRow>& rows, const std::vector<Case>& cases,
                               const std::vector<Elsewhere>& elsewhere = kElsewhere) {
  return complaints(rows, cases, elsewhere, LANEWISE_TEST_DATA);
}

using Messages = std::vector<std::string>;

}  // namespace

TEST_CASE("a table with all its cases has nothing to complain about") {
  CHECK(found(kRows, kCases) == Messages{});
}

TEST_CASE("each case that is taken out is missed by name") {
  CHECK(found(kRows, {named("rcp"), bounded("rcp")}) == Messages{"add: has no value case"});
  CHECK(found(kRows, {named("add"), named("rcp")}) ==
        Messages{"rcp: has no value case with a bound"});
  CHECK(found(kRows, kCases, {}) == Messages{"store: has an effect that no test is named for"});
}

TEST_CASE("claims and cases must agree") {
  CHECK(found(kRows, {named("add"), bounded("add"), bounded("rcp")}) ==
        Messages{"add: claims to be exact, but has a case with a bound"});
  std::vector<TableRow> rows = kRows;
  rows.push_back({"sub", Claim::none, true});
  CHECK(found(rows, kCases) == Messages{"sub: runs, but claims nothing"});
  rows.back().key = "add";
  CHECK(found(rows, kCases) ==
        Messages{"add: two rows have this key", "add: runs, but claims nothing"});
  std::vector<Case> cases = kCases;
  cases.push_back(named("mul"));
  CHECK(found(kRows, cases) == Messages{"mul: a case for a row that does not exist"});
  cases.back() = named("add");
  cases.back().tuples.clear();
  CHECK(found(kRows, cases).size() == 1);
}

TEST_CASE("what is named elsewhere must be there, and be needed") {
  std::vector<Elsewhere> elsewhere = kElsewhere;
  // In two parts, or this file itself would hold it.
  elsewhere[0].needle = std::string("nobody wrote ") + "this";
  CHECK(found(kRows, kCases, elsewhere) ==
        Messages{"st*: '" + elsewhere[0].needle + "' does not stand in unit/values/claims.cpp"});
  elsewhere = kElsewhere;
  elsewhere.push_back({"load", "unit/values/claims.cpp", "kRows", "not in the table"});
  CHECK(found(kRows, kCases, elsewhere) ==
        Messages{"load: named elsewhere, but no such row claims an effect"});
}

TEST_CASE("pools are combined in full up to a limit, and no value is left out beyond it") {
  CHECK(tuples({flags(), flags(), flags()}).size() == 8);
  const Pool p = f32();
  const Tuples some = tuples({p, p, p}, 100);
  CHECK(some.size() == 100);
  for (unsigned place = 0; place < 3; ++place)
    for (uint64_t value : p.values) {
      bool there = false;
      for (const Words& w : some) there = there || w[place] == value;
      CHECK(there);
    }
  CHECK(tuples({f64(), u32()}, 10)[0].size() == 3);
}
