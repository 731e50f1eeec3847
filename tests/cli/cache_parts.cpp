// lanewise cache --shard, merge and --sample, as a user runs them: reports equal those of the whole
// run, parts that do not belong together and options that do not go together are one error.
#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace cache_parts_test {
namespace {

bool elsewhere() {
  return std::string(device()) != "reference";
}

/// Of two kernels' worth of waves on many SMs, with a stale read.
const std::string& trace() {
  static const std::string path = [] {
    std::string text =
        "-kernel name = k\n-grid dim = (96,1,1)\n-block dim = (64,1,1)\n"
        "-accelsim tracer version = 4\n-enable lineinfo = 0\n";
    for (const char* one : {"1,0,0\nwarp = 0\ninsts = 1\n0010 ffffffff 1 R4 LDG.E 1 R2",
                            "0,0,0\nwarp = 0\ninsts = 1\n0020 ffffffff 0 STG.E 2 R2 R4",
                            "1,0,0\nwarp = 0\ninsts = 1\n0030 ffffffff 1 R4 LDG.E 1 R2"})
      text += std::string("#BEGIN_TB\nthread block = ") + one + " 4 1 0x7e0000000000 4\n#END_TB\n";
    for (unsigned group = 0; group < 96; ++group) {
      text += "#BEGIN_TB\nthread block = " + std::to_string(group) + ",0,0\n";
      for (unsigned warp = 0; warp < 2; ++warp) {
        text += "warp = " + std::to_string(warp) + "\ninsts = 40\n";
        for (unsigned i = 0; i < 40; ++i) {
          const unsigned long at =
              0x7f0000000000UL + (group * 7 + i * 1237 + warp * 91) % 4096 * 128;
          char line[120];
          std::snprintf(line, sizeof line,
                        i % 3 == 1 ? "%04x ffffffff 0 STG.E.EF 2 R2 R4 4 1 0x%lx 4\n"
                                   : "%04x ffffffff 1 R4 LDG.E 1 R2 4 1 0x%lx 4\n",
                        16 * i, at);
          text += line;
        }
      }
      text += "#END_TB\n";
    }
    return write("parts.traceg", text);
  }();
  return path;
}

std::string part(const std::string& name) {
  return scratch() + "/" + name;
}

Output run_part(const std::string& shard, const std::string& to, const std::string& more = "") {
  return program("cache " + trace() + " --preset gv100,tahiti --shard " + shard + " -o " +
                 part(to) + more);
}

void one_error(const Output& o, const std::string& what) {
  CAPTURE(o.err);
  CHECK(o.code == 2);
  CHECK(lines_of(o.err) == 1);
  CHECK(contains(o.err, what));
}

json without_bytes(const std::string& text) {
  json j = json::parse(text);
  for (json& p : j["presets"]) p.erase("tracker_bytes");
  return j;
}

}  // namespace

TEST_CASE("cache --shard and merge: the reports of the run without parts" * kHostCase) {
  if (elsewhere()) return;
  std::string all;
  for (const char* i : {"2", "0", "1"}) {
    const Output o = run_part(std::string(i) + "/3", std::string("p") + i + ".json");
    REQUIRE_MESSAGE(o.code == 0, o.err);
    CHECK(o.out == std::string("part ") + i +
                       " of 3 of 7685 events: " + part(std::string("p") + i + ".json") + "\n");
    all += " " + part(std::string("p") + i + ".json");
  }
  const std::string whole = "cache " + trace() + " --preset gv100,tahiti";
  CHECK(program("cache merge" + all).out == program(whole).out);
  CHECK(without_bytes(program("cache merge" + all + " --json").out) ==
        without_bytes(program(whole + " --json").out));
  const Output reports = program("cache merge" + all + " --report " + part("m.csv") + " --report " +
                                 part("m.sarif") + " --fail-on any");
  const Output exact = program(whole + " --report " + part("w.csv") + " --report " +
                               part("w.sarif") + " --fail-on any");
  CHECK(reports.code == 1);  // a stale read
  CHECK(exact.code == 1);
  CHECK(slurp(part("m.csv")) == slurp(part("w.csv")));
  CHECK(slurp(part("m.sarif")) == slurp(part("w.sarif")));
}

TEST_CASE("cache merge: what does not belong together is one error that says which" * kHostCase) {
  if (elsewhere()) return;
  REQUIRE(run_part("0/2", "a0.json").code == 0);
  REQUIRE(run_part("1/2", "a1.json").code == 0);
  one_error(program("cache merge " + part("a0.json")), "part 1 of 2 is missing");
  one_error(program("cache merge " + part("a0.json") + " " + part("a0.json")), "are both part 0");
  // The same trace with one byte more, and another preset.
  const std::string other = write("other.traceg", slurp(trace()) + "\n");
  REQUIRE(
      program("cache " + other + " --preset gv100,tahiti --shard 1/2 -o " + part("b1.json")).code ==
      0);
  one_error(program("cache merge " + part("a0.json") + " " + part("b1.json")), "another trace");
  REQUIRE(
      program("cache " + trace() + " --preset gv100,fiji --shard 1/2 -o " + part("c1.json")).code ==
      0);
  one_error(program("cache merge " + part("a0.json") + " " + part("c1.json")), "other presets");
  one_error(program("cache merge " + write("none.json", "{}")), "not a part");
  one_error(program("cache merge " + part("missing.json")), "missing.json");
  one_error(program("cache merge " + part("a0.json") + " " + part("a1.json") + " --report x.html"),
            "nothing to draw");
  CHECK(program("cache merge").code == 2);
}

TEST_CASE("cache merge: a trace that ends early is reported and is no success, as without parts") {
  if (elsewhere()) return;
  const std::string whole = slurp(trace());
  const std::string cut = write("cut.traceg", whole.substr(0, whole.size() - 200));
  std::string all;
  for (const char* i : {"0", "1"}) {
    const Output o = program("cache " + cut + " --preset gv100 --shard " + i + "/2 -o " +
                             part(std::string("cut") + i));
    CHECK(o.code == 1);
    all += " " + part(std::string("cut") + i);
  }
  const Output merged = program("cache merge" + all),
               exact = program("cache " + cut + " --preset gv100");
  CHECK(merged.code == 1);
  CHECK(merged.out == exact.out);
  CHECK(merged.err == exact.err);
  CHECK(program("cache merge" + all + " --partial").code == 0);
}

TEST_CASE("cache --shard and --sample: options that do not go together are named") {
  if (elsewhere()) return;
  const std::string base = "cache " + trace() + " --preset gv100 ";
  one_error(program(base + "--shard 0/2"), "--shard I/N and -o PART go together");
  one_error(program(base + "-o x.json"), "--shard I/N and -o PART go together");
  for (const char* shard : {"2/2", "x", "1", "1/0", "1/2x", "-1/2"})
    one_error(program(base + "-o x.json --shard=" + shard), "--shard");
  for (const char* option : {"--compare", "--reuse", "--sets", "--json", "--report x.json",
                             "--report x.html", "--fail-on E", "--sample 1/2"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    one_error(program(base + "-o x.json --shard 0/2 " + option), name);
  }
  for (const char* option : {"--compare", "--reuse", "--sets", "--report x.perfetto.json"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    one_error(program(base + "--sample 1/2 " + option),
              name + (name == "--report" ? " x" : " cannot"));
  }
  for (const char* sample : {"2/3", "1/0", "half"})
    one_error(program(base + "--sample " + sample), "--sample");
  one_error(program("cache " + trace() + " --preset infinite --sample 1/2"), "l2.infinite");
  one_error(program(base + "--shard 0/2 -o " + scratch() + "/no/such/folder/x.json"), "no/such");
}

TEST_CASE("cache --sample: text and JSON report estimates with their intervals") {
  if (elsewhere()) return;
  const std::string base = "cache " + trace() + " --preset gv100 ";
  const Output text = program(base + "--sample 1/16");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out,
                 "L2 of gv100 is estimated from 128 of 2048 sets, drawn at random; "
                 "findings are those of these sets"));
  const json sampled = json::parse(program(base + "--sample 1/16 --json").out)["presets"][0];
  const json exact = json::parse(program(base + "--json").out)["presets"][0];
  CHECK(sampled["caches"]["L1"] == exact["caches"]["L1"]);
  const json& reads = sampled["sample"]["L2"]["reads"];
  CHECK(reads["low"] < reads["estimate"]);
  CHECK(reads["low"] <= exact["caches"]["L2"]["reads"]);
  CHECK(reads["high"] >= exact["caches"]["L2"]["reads"]);
  CHECK(!exact.contains("sample"));
}

}  // namespace cache_parts_test
