// The gate has to notice: figures that are doctored on purpose.
#include <doctest/doctest.h>

#include "tests/bench/isa/table.hpp"

using namespace lanewise::isa_gate;

namespace {

const std::string kJson = R"json({
  "device": "Null hardware (RADV VEGA10)", "driver": "radv Mesa 22.3.6",
  "benchmarks": [
    {"name": "glsl/a", "glsl": {"Instructions": 20, "Inverse Throughput": 60},
     "translated": {"Instructions": 100, "Inverse Throughput": 200}},
    {"name": "glsl/a/off", "glsl": {"Instructions": 20, "Inverse Throughput": 60},
     "translated": {"Instructions": 50, "Inverse Throughput": 100}},
    {"name": "glsl/a/arena/launch", "glsl": {"Instructions": 20, "Inverse Throughput": 60},
     "translated": {"Instructions": 70, "Inverse Throughput": 90}},
    {"name": "glsl/b", "failed": "not done within 60 s"}]})json";

Table table_with(const std::string& name, long instructions, long throughput) {
  Table table = from_json(kJson);
  table[name] = {instructions, throughput, false};
  return table;
}

}  // namespace

TEST_CASE("isa gate: what is as in the table is good") {
  const Table table = from_json(kJson);
  CHECK(table.size() == 5);
  CHECK(table.at("glsl/a (GLSL)").instructions == 20);
  CHECK(table.at("glsl/b").failed);
  CHECK(failures(kJson) == std::vector<std::string>{"glsl/b: not done within 60 s"});
  CHECK(parse(print(table)) == table);
  const Verdict same = compare(table, table);
  CHECK(same.good());
  CHECK(same.better.empty());
  CHECK(file_name(kJson) == "radv-mesa-22.3.6_vega10.tsv");
}

TEST_CASE("isa gate: more than 2 % worse fails and names kernel and figures") {
  const Table table = from_json(kJson);
  CHECK(compare(table, table_with("glsl/a", 102, 204)).good());
  const Verdict more = compare(table, table_with("glsl/a", 103, 200));
  REQUIRE(more.worse.size() == 1);
  CHECK(more.worse[0] ==
        "glsl/a: instructions 100 -> 103 (+3.0 %), inverse throughput 200 -> 200 (+0.0 %)");
  CHECK(!more.good());
  CHECK(!compare(table, table_with("glsl/a/off", 50, 103)).good());
  CHECK(!compare(table, table_with("glsl/a/arena/launch", 72, 90)).good());
  // Fewer instructions do not make up for throughput.
  CHECK(!compare(table, table_with("glsl/a", 50, 205)).good());
}

TEST_CASE("isa gate: better is reported, and does not fail") {
  const Verdict better = compare(from_json(kJson), table_with("glsl/a", 90, 200));
  CHECK(better.good());
  REQUIRE(better.better.size() == 1);
  CHECK(better.better[0].find("100 -> 90 (-10.0 %)") != std::string::npos);
}

TEST_CASE("isa gate: kernels that come, go, or stop to compile") {
  const Table table = from_json(kJson);
  Table stopped = table;
  stopped["glsl/a"] = {0, 0, true};
  CHECK(compare(table, stopped).worse.size() == 1);
  CHECK(compare(stopped, table).good());
  CHECK(compare(stopped, table).better.size() == 1);
  stopped.erase("glsl/a (GLSL)");
  CHECK(compare(stopped, table).good());
  Table less = table;
  less.erase("glsl/a");
  CHECK(compare(table, less).other.size() == 1);
  CHECK(!compare(table, less).good());
  CHECK(!compare(less, table).good());
  Table without = table;
  without.erase("glsl/b");
  CHECK(compare(table, without).good());
  CHECK(compiled_only(table) == "^(?!(glsl/b)$)");
  CHECK(compiled_only(without).empty());
  CHECK_THROWS(parse("kernel\tx\ty\nno columns\n"));
}
