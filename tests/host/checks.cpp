// The checks over whole programs: the order of streams, which planted mistakes break, and programs
// without mistakes, of which nothing is reported.
#include "tests/host/support.hpp"

using namespace host_test;

namespace {

const std::string kRaces = "LANEWISE_CHECK=race LANEWISE_FAULT_EXIT_CODE=1";

}  // namespace

TEST_CASE("checks: work of streams that nothing orders is found, and its near misses are not") {
  if (!on_reference()) return;
  constexpr int kCases = 16;
  for (int i = 0; i < kCases; ++i) {
    INFO("case ", i);
    const Output wrong = run("stream_order.cuda13", "wrong " + std::to_string(i), kRaces);
    INFO(wrong.out, wrong.err);
    CHECK(wrong.code == 1);
    CHECK(count(wrong.err, "lanewise: race: ") >= 1);
    CHECK(count(wrong.err, "and nothing orders the two") >= 1);
    CHECK(reports(wrong) == 0);
    const Output right = run("stream_order.cuda13", "right " + std::to_string(i), kRaces);
    INFO(right.out, right.err);
    CHECK(right.code == 0);
    CHECK(right.err.empty());
  }
}

TEST_CASE("checks: a report of two streams has both sites") {
  if (!on_reference()) return;
  const std::string sarif = cli_test::scratch() + "/streams.sarif";
  const Output o = run("stream_order.cuda13", "wrong 5", kRaces + " LANEWISE_FINDINGS=" + sarif);
  INFO(o.err);
  CHECK(count(o.err, "kernel '_ZN") == 2);
  CHECK(count(o.err, "stream_order.cu:") == 2);
  CHECK(o.err.find("writes 'cudaMalloc #1' (offset 1996 of 4000 bytes)") != std::string::npos);
  const std::string text = cli_test::slurp(sarif);
  CHECK(text.find("\"race-stream\"") != std::string::npos);
  CHECK(count(text, "\"executionOrder\"") == 2);
}

TEST_CASE("checks: programs without mistakes raise nothing") {
  if (!on_reference()) return;
  // These have what a check is for, or faults of their own, or are run elsewhere.
  const auto is_none_of = [](const std::string& program, std::initializer_list<const char*> names) {
    return std::none_of(names.begin(), names.end(),
                        [&](const char* name) { return is(program, name); });
  };
  size_t seen = 0;
  for (const std::string& program : all_programs()) {
    if (program.ends_with(".cuda11") || !is_served(program) ||
        !is_none_of(program, {"attributes", "reductions", "drv_copies", "drv_streams", "errors",
                              "drv_errors", "hip_errors", "printing", "blur_first", "jit",
                              "dev_assert", "dev_double_free", "drv_devices", "hash_table"}))
      continue;
    INFO(program);
    const Output o = run(program, {}, "LANEWISE_CHECK=race,init,sync,async");
    INFO(o.out, o.err);
    CHECK(o.code == 0);
    CHECK(reports(o) == 0);
    CHECK(count(o.err, "lanewise: race") == 0);
    ++seen;
  }
  CHECK(seen >= 30);
}

TEST_CASE("checks: mistakes of our own programs, which run right in the order of their calls") {
  if (!on_reference()) return;
  // A fill of the default stream, which streams that do not block do not wait for.
  for (const char* program : {"reductions.cuda13", "drv_copies.cuda13"})
    CHECK(count(run(program, {}, kRaces).err, "a fill (cudaMemset) in the default stream") >= 1);
  // A copy of the default stream does not wait for a graph in such a stream.
  CHECK(count(run("drv_streams.cuda13", {}, kRaces).err, "a copy in the default stream") >= 1);
}
