// `run --cache-exact` and what scripts say about caches when it does not hold.
#include <filesystem>

#include "runtime/api/objects/objects.hpp"
#include "runtime/script/script.hpp"
#include "tests/cli/support.hpp"
#include "tests/support/shares.hpp"

using namespace cli_test;

namespace {

// Group 1 stores to a word that group 0 has loaded before and group 5 (the same SM) loads after.
const std::string kStale = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry stale(.param .u64 flag, .param .u64 seen) {
  .reg .b64 %f, %s;
  .reg .b32 %g, %v, %n;
  .reg .pred %p;
  ld.param.u64 %f, [flag];
  ld.param.u64 %s, [seen];
  mov.u32 %g, %ctaid.x;
  setp.eq.u32 %p, %g, 1;
  mov.u32 %n, 99;
  ld.global.u32 %v, [%f];
  @%p st.global.u32 [%f], %n;
  mad.wide.u32 %s, %g, 4, %s;
  st.global.u32 [%s], %v;
  ret;
}
)";

std::vector<uint32_t> seen(const std::string& options, int code = 0) {
  const std::string kernel = write("stale.ptx", kStale);
  const std::string flag = write("flag.bin", std::string("\7\0\0\0", 4));
  const std::string out = scratch() + "/seen.bin";
  const std::string none = write("none.bin", std::string(24, '\0'));
  const Output o =
      program("run --device reference " + kernel + " --grid 6 --block 1 --arg inout:" + flag + ":" +
              scratch() + "/flag.out.bin --arg inout:" + none + ":" + out + " " + options);
  CHECK_MESSAGE(o.code == code, o.err);
  return read_bin<uint32_t>(out);
}

std::string script(const std::string& statements) {
  return write("cache.lw", "isa sass\nbuffer x u32[64]\ncase \"c\" {\n" + statements + "\n}\n");
}
const std::string kLoad =
    "cache \"sm50-spec\"\nreg R2:R3 = x + 4 * lane\ncode \"\"\"\nLDG.E R0, [R2] ;\n\"\"\"\n";

bool says(const std::string& statements, const std::string& message) {
  const Output o = program("run --device reference " + script(statements));
  CHECK(o.code == 1);
  INFO(o.err);
  return o.err.find(message) != std::string::npos;
}

}  // namespace

TEST_CASE("cache-exact: a load returns what its SM's cache holds") {
  CHECK(seen("") == std::vector<uint32_t>{7, 7, 99, 99, 99, 99});
  CHECK(seen("--cache sm50-spec") == std::vector<uint32_t>{7, 7, 99, 99, 99, 99});
  CHECK(seen("--cache sm50-spec --cache-exact") == std::vector<uint32_t>{7, 7, 99, 99, 99, 7});
  CHECK(read_bin<uint32_t>(scratch() + "/flag.out.bin").at(0) == 99);
  CHECK(seen("--cache sm50-spec --cache-exact --fail-on H1", 1).at(5) == 7);
  // GA100 has more SMs than the grid has groups: nobody comes back to an old line.
  CHECK(seen("--cache ga100 --cache-exact").at(5) == 99);
}

TEST_CASE("cache-exact: where it cannot work") {
  const std::string kernel = write("stale.ptx", kStale);
  const Output two =
      program("run --device reference " + kernel + " --cache ga100,gv100 --cache-exact");
  CHECK(two.code == 2);
  CHECK(two.err.find("--cache-exact needs --cache with one preset") != std::string::npos);
  if (std::string(device()) == "reference") return;
  const Output vulkan = run(kernel + " --cache sm50-spec --cache-exact --arg u64:0 --arg u64:0");
  CHECK(vulkan.code == 2);
  CHECK(vulkan.err.find("--cache-exact runs on the reference engine only") != std::string::npos);
}

// One group never meets what another SM has left in its L1, so every access of every family must
// come back from the caches as it comes back from memory.
TEST_CASE("cache-exact: the conformance suite holds as it does without") {
  if (std::string(device()) != "reference") return;
  const auto engine = lanewise::host::open_engine("reference");
  size_t ran = 0, seen = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(LANEWISE_TEST_DATA) + "/conformance")) {
    if (file.path().extension() != ".lw") continue;
    lanewise::script::Script s = lanewise::script::parse(slurp(file.path().string()), 0);
    lanewise::script::RunOptions options;
    options.directory = file.path().parent_path().string();
    for (lanewise::script::Case& c : s.cases) {
      if (!c.cache.preset.empty() || (++seen % 3 != 0 && !lanewise::test::whole_tests())) continue;
      c.cache = {c.loc, "sm50-spec", true};
      const lanewise::script::CaseResult r = lanewise::script::run(c, *engine, options);
      CHECK_MESSAGE(r.ok(), file.path().filename().string() << ": " << r.name);
      ++ran;
    }
  }
  CHECK(ran > 200);
}

TEST_CASE("scripts about caches: mistakes have line and column, failures both values") {
  CHECK(says("cache \"nothing\"\ncode \"\"\"\nNOP ;\n\"\"\"", "cache.lw:4:7: error:"));
  CHECK(says("code \"\"\"\nNOP ;\n\"\"\"\nexpect cache l1 reads == 1",
             "cache.lw:7:1: error: no caches are watched"));
  CHECK(says(kLoad + "expect cache l9 reads == 1",
             "cache.lw:9:14: error: unknown cache 'l9', expected l1, constant,"));
  CHECK(says(kLoad + "expect cache l1 loads == 1",
             "cache.lw:9:17: error: unknown count 'loads', expected reads,"));
  CHECK(says(kLoad + "expect cache l1 sm 0 reads == 1", "cache.lw:9:17: error: counts are those"));
  CHECK(says(kLoad + "expect cache l1 reads == 2",
             "cache.lw:9:1: error: \"c\": cache l1 reads: expected 2, found 1"));
  CHECK(says(kLoad + "expect cache l1 holds x dirty",
             "cache l1 holds 0x10000000: expected present, dirty, found present, clean"));
  CHECK(says(kLoad + "expect cache l1 sm 1 holds x",
             "cache l1 sm 1 holds 0x10000000: expected present, found absent"));
  CHECK(says(kLoad + "expect cache l2 lacks x",
             "cache l2 lacks 0x10000000: expected absent, found present, clean"));
  CHECK(says(kLoad + "expect cache l1 dirty_bytes[local 8] == 4",
             "cache l1 dirty_bytes local 0x8: expected 4, found 0"));
  CHECK(says(kLoad + "expect cache finding \"H1\" == 1", "cache finding H1: expected 1, found 0"));
}
