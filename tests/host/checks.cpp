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

TEST_CASE("checks: costs of a program, summed over its launches, counted by hand") {
  if (!on_reference()) return;
  const std::string csv = cli_test::scratch() + "/costs.csv",
                    found = cli_test::scratch() + "/costs.json";
  const Output o =
      run("dev_checks.cuda13", "costs",
          "LANEWISE_CHECK=perf LANEWISE_COUNTERS=" + csv + " LANEWISE_FINDINGS=" + found);
  INFO(o.out, o.err);
  CHECK(o.code == 0);
  // Three launches of two groups of two waves.
  const auto line = [&](const std::string& rule, const std::string& text) {
    CHECK(count(o.err, "[" + rule + "]: " + text) == 1);
  };
  // from[2 * i]: 8 sectors for 128 bytes.
  line("perf-uncoalesced", "12 requests of waves took 96 sectors of 32 bytes; their bytes fit 48");
  // tile[2 * i] and its neighbour: two words in each bank.
  CHECK(count(o.err,
              "[perf-bank-conflict]: 12 requests of waves took 24 passes through the banks, "
              "12 without conflicts") == 2);
  // 16 lanes of a wave add to one word.
  CHECK(count(o.err, "[perf-atomic-conflict]: 12 requests of waves took 192 turns") == 1);
  CHECK(count(o.err, "[perf-local-memory]") >= 1);
  CHECK(count(o.err, "dev_checks.cu:16 [perf-uncoalesced]") == 1);
  const Output read = cli_test::read_as("ncu", csv);
  INFO(read.out);
  CHECK(read.code == 0);
  // One launch.
  CHECK(count(read.out, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum sector 32\n") == 3);
  CHECK(count(read.out, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum request 4\n") == 3);
  CHECK(cli_test::slurp(found).find("\"perf-bank-conflict\"") != std::string::npos);
  CHECK(run("dev_checks.cuda13", "costs", "LANEWISE_COUNTERS=" + csv).code != 0);
}

TEST_CASE("checks: bytes that nobody has written, copied to the host; padding is none") {
  if (!on_reference()) return;
  const std::string init = "LANEWISE_CHECK=init LANEWISE_FAULT_EXIT_CODE=1";
  const char* const kFound[] = {": 256 from offset 768 of 1024 on", ": 4 from offset 0 of 4 on",
                                ": 512 from offset 512 of 1024 on", ": 100 from offset 100 of ",
                                ": 40 from offset 984 of 1024 on"};
  for (int i = 0; i < 5; ++i) {
    INFO("case ", i);
    const Output wrong = run("dev_checks.cuda13", "wrong " + std::to_string(i), init);
    INFO(wrong.out, wrong.err);
    CHECK(wrong.code == 1);
    CHECK(count(wrong.err, "has bytes that nobody has written") >= 1);
    CHECK(count(wrong.err, kFound[i]) >= 1);
    const Output right = run("dev_checks.cuda13", "right " + std::to_string(i), init);
    INFO(right.out, right.err);
    CHECK(right.code == 0);
    CHECK(right.err.empty());
  }
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
                              "drv_errors", "hip_errors", "printing", "runtime_state", "blur_first",
                              "jit", "dev_assert", "dev_double_free", "drv_devices", "hash_table"}))
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
