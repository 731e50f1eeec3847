// Every access of the conformance suite: what the explanation works out is what the engine did.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/explain/report.hpp"
#include "runtime/script/run/suite.hpp"
#include "tests/support/witness.hpp"

using namespace lanewise;

namespace {

const std::string kSuite = LANEWISE_TEST_DATA "/conformance";

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

script::RunOptions options() {
  script::RunOptions o;
  o.directory = kSuite;
  o.judge_faults = false;
  return o;
}

/// Accesses as explained, of every time that an instruction is carried out.
std::vector<witness::Access> explained(const script::Case& c) {
  std::vector<witness::Access> out;
  explain::Query query;
  query.visit = 0;
  query.launch = 0;
  explain::Recorder recorder(query);
  script::run(c, recorder, options());
  for (const auto& recording : recorder.recordings()) {
    CHECK(!recording->cut);
    for (const explain::InstructionReport& r : explain::reports(*recording, query))
      for (const explain::LaneReport& lane : r.lanes)
        for (const explain::Access& a : lane.accesses)
          if (a.done || a.fault != FaultKind::none)
            out.emplace_back(r.line, lane.thread, a.address, a.bytes);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

TEST_CASE("explained addresses are those that the engine accessed, for every conformance case") {
  size_t cases = 0, accesses = 0;
  for (const std::string& file : script::scripts_in(kSuite)) {
    // Random programs repeat a few forms in loops.
    if (file.find("/programs/") != std::string::npos) continue;
    const script::Script s = script::parse(slurp(file), 0);
    for (const script::Case& c : s.cases) {
      if (!c.rejected.empty()) continue;
      CAPTURE(file);
      CAPTURE(c.name);
      witness::Engine engine;
      script::run(c, engine, options());
      const auto truth = engine.accesses();
      CHECK(explained(c) == truth);
      ++cases;
      accesses += truth.size();
    }
  }
  CHECK(cases > 290);
  CHECK(accesses > 10000);
}

TEST_CASE("an address that is worked out differently is an error, not an explanation") {
  const script::Script s = script::parse(R"(
isa sass
buffer x u32[32] = iota
case "c" {
  reg R2 = x + 4 * lane
  code """
    LDG R0, [R2] ;
  """
}
)");
  REQUIRE(s.ok());
  explain::Query query;
  explain::Recorder recorder(query);
  script::run(s.cases[0], recorder, options());
  REQUIRE(recorder.recordings().size() == 1);
  explain::Recording& r = *recorder.recordings()[0];
  CHECK(explain::reports(r, query).size() == 1);
  bool changed = false;
  for (explain::Executed& e : r.visits.at(0).steps)
    if (e.touch) {
      e.touch->address += 4;
      changed = true;
    }
  REQUIRE(changed);
  CHECK_THROWS_AS(explain::reports(r, query), Error);
}
