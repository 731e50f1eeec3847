// What is found, as text, JSON, SARIF and JUnit; suppressions, baselines, exit codes; costs and
// counters.
#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

/// Lane 0 reads behind the buffer's end (line 14), lane 1 an address that is not aligned (line 17).
std::string two_faults() {
  return write("two_faults.ptx", kHeader + R"(
.visible .entry twice(.param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra one;
  ld.global.u32 %r2, [%rd1+64];
  ret;
one:
  ld.global.u32 %r2, [%rd1+2];
  ret;
}
)");
}

const std::string kHow = " --device reference --grid 1 --block 2 --arg zero:u32[16]";

Output found(const std::string& more) {
  return program_as_is("run " + two_faults() + kHow + more);
}

}  // namespace

TEST_CASE("findings as JSON, text, SARIF and JUnit" * kHostCase) {
  const std::string base = scratch() + "/found";
  const Output o = found(" --findings " + base + ".json --findings " + base + ".txt --findings " +
                         base + ".sarif --findings " + base + ".xml");
  CHECK(o.code == 1);
  const json j = json::parse(slurp(base + ".json"));
  REQUIRE(j["findings"].size() == 2);
  CHECK(j["subjects"] == json{"twice"});
  CHECK(j["findings"][0]["rule"] == "out-of-range");
  CHECK(j["findings"][0]["subject"] == "twice");
  CHECK(j["findings"][0]["places"][0]["line"] == 14);
  CHECK(j["findings"][1]["rule"] == "misaligned");
  CHECK(j["findings"][1]["places"][0]["thread"] == "lane 1 of wave 0 in group (0,0,0)");
  const std::string text = slurp(base + ".txt");
  CHECK(contains(text, "[out-of-range] fault: out-of-range access of 4 bytes"));
  CHECK(contains(text, "2 findings, 0 of them suppressed or known\n"));

  const json sarif = json::parse(slurp(base + ".sarif"));
  CHECK(sarif["version"] == "2.1.0");
  const json run = sarif["runs"][0];
  CHECK(run["tool"]["driver"]["name"] == "lanewise");
  REQUIRE(run["results"].size() == 2);
  for (const json& r : run["results"]) {
    CHECK(run["tool"]["driver"]["rules"][r["ruleIndex"].get<size_t>()]["id"] == r["ruleId"]);
    CHECK(r["level"] == "error");
    CHECK(!r["message"]["text"].get<std::string>().empty());
    CHECK(r["partialFingerprints"]["lanewise/v1"].get<std::string>().size() == 16);
    const json place = r["locations"][0]["physicalLocation"];
    CHECK(contains(place["artifactLocation"]["uri"], "two_faults.ptx"));
    CHECK(place["region"]["startLine"].get<int>() >= 14);
  }
  const Output results = read_as("sarif", base + ".sarif");
  CAPTURE(results.out);
  CHECK(results.code == 0);
  CHECK(contains(results.out, "out-of-range error two_faults.ptx:14 -\n"));
  const Output xml = read_as("junit", base + ".xml");
  CAPTURE(xml.out);
  CHECK(xml.code == 0);
  CHECK(contains(xml.out, "twice misaligned two_faults.ptx:17"));
  CHECK(contains(xml.out, "two_faults.ptx:17 failure\n"));
}

TEST_CASE("findings: both sites of a race are a flow in SARIF" * kHostCase) {
  const std::string file = write("flow.ptx", kHeader + R"(
.visible .entry flow(.param .u64 p)
{
  .reg .b32 %r<6>;
  .shared .align 4 .b8 s[256];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  xor.b32 %r5, %r2, 128;
  add.u32 %r5, %r5, %r3;
  ld.shared.u32 %r1, [%r5];
  ret;
}
)");
  const std::string base = scratch() + "/flow";
  CHECK(program_as_is("run " + file + " --device reference --grid 1 --block 64 --arg zero:u32[1] " +
                      "--check race --findings " + base + ".sarif --findings " + base + ".xml")
            .code == 1);
  const Output flow = read_as("sarif", base + ".sarif");
  CHECK(flow.code == 0);
  CHECK(flow.out == "race error flow.ptx:13 flow.ptx:16\n");
  const Output cases = read_as("junit", base + ".xml");
  CHECK(cases.out == "flow race flow.ptx:13 failure\n");
}

TEST_CASE("findings: the readers of the formats see what is wrong" * kHostCase) {
  const auto broken = [](const std::string& format, const std::string& text) {
    return read_as(format, write("broken", text)).code;
  };
  const std::string log = R"({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x",
    "rules": [{"id": "a"}]}}, "results": [{"ruleId": "a", "ruleIndex": 0, "message": {"text": "m"},
    "locations": [{}], "codeFlows": [{"threadFlows": [{"locations": [{"executionOrder": 1}]}]}]}]}]})";
  const auto without = [](std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
  };
  CHECK(broken("sarif", without(log, "[{\"executionOrder\": 1}]",
                                "[{\"executionOrder\": 1, \"location\": {}}]")) == 0);
  CHECK(broken("sarif", without(log, "\"message\": {\"text\": \"m\"},", "")) == 1);
  CHECK(broken("sarif", without(log, "\"ruleIndex\": 0", "\"ruleIndex\": 0, \"line\": 3")) == 1);
  CHECK(broken("sarif", without(log, "\"2.1.0\"", "\"2.0.0\"")) == 1);
  CHECK(broken("junit", "<testsuite name='a' tests='1'><testcase name='b'/></testsuite>") == 1);
  CHECK(broken("junit",
               "<testsuite name='a' tests='2'><testcase name='b' classname='c'/>"
               "</testsuite>") == 1);
  CHECK(broken("ncu", "\"ID\",\"Process ID\"\n") == 1);
}

TEST_CASE("findings: a run without any has a case in JUnit that passed" * kHostCase) {
  const std::string file = scratch() + "/clean.xml";
  CHECK(program_as_is("run " + two_faults() +
                      " --device reference --grid 1 --block 1 --arg zero:u32[17] --findings " +
                      file)
            .code == 0);
  CHECK(contains(slurp(file), "<testcase classname=\"twice\" name=\"no findings\"/>"));
  CHECK(contains(slurp(file), "tests=\"1\" failures=\"0\""));
  CHECK(read_as("junit", file).out == "twice no no findings passed\n");
  CHECK(found(" --findings x.html").code == 2);
  CHECK(found(" --findings /nowhere/x.json").code == 2);
}

TEST_CASE("suppressions: by rule, subject and site" * kHostCase) {
  const auto with = [&](const std::string& lines) {
    return found(" --suppress " + write("suppress.txt", lines));
  };
  const Output one = with("# known\nout-of-range twice two_faults.ptx:14\n");
  CHECK(one.code == 1);
  CHECK(!contains(one.err, "out-of-range access"));
  CHECK(contains(one.err, "misaligned access"));
  CHECK(contains(one.err, "1 of 2 findings are suppressed or in the baseline"));
  CHECK(with("out-of-range\nmisaligned tw* *:17 # both\n").code == 0);
  CHECK(with("* twice\n").code == 0);
  CHECK(with("misaligned other\nout-of-range twice *:15\n").code == 1);
  CHECK(contains(with("null\n").err, "suppress.txt:1: null * *  matched nothing"));
  const Output unknown = with("\nout-of-rage\n");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "suppress.txt:2: no rule is named 'out-of-rage'"));
  CHECK(with("null a b c\n").code == 2);
  CHECK(found(" --suppress /nowhere").code == 2);
  const std::string sarif = scratch() + "/suppressed.sarif";
  found(" --suppress " + write("suppress.txt", "null\nout-of-range\n") + " --findings " + sarif);
  const json results = json::parse(slurp(sarif))["runs"][0]["results"];
  CHECK(read_as("sarif", sarif).code == 0);
  CHECK(results[0]["suppressions"][0]["kind"] == "external");
  CHECK(!results[1].contains("suppressions"));
}

TEST_CASE("baselines: what was known does not count, what is gone is named" * kHostCase) {
  const std::string base = scratch() + "/base.txt", sarif = scratch() + "/base.sarif";
  CHECK(found(" --write-baseline " + base).code == 1);
  CHECK(lines_of(slurp(base)) == 3);
  CHECK(found(" --baseline " + base).code == 0);
  const std::string only = write("only.txt", "out-of-range twice *:14\nnull twice *:3\n");
  const Output o = found(" --baseline " + only + " --findings " + sarif);
  CHECK(o.code == 1);
  CHECK(contains(o.err, "only.txt:2: null twice *:3  was not found any more"));
  const json results = json::parse(slurp(sarif))["runs"][0]["results"];
  CHECK(read_as("sarif", sarif).code == 0);
  CHECK(results[0]["baselineState"] == "unchanged");
  CHECK(results[1]["baselineState"] == "new");
}

TEST_CASE("check: the same options" * kHostCase) {
  const std::string file = write("bad.ptx", kHeader + "\n.visible .entry k()\n{\n  foo.u32;\n}\n");
  const std::string xml = scratch() + "/check.xml";
  CHECK(program_as_is("check " + file + " --findings " + xml).code == 1);
  CHECK(contains(slurp(xml), "failures=\"1\""));
  CHECK(contains(slurp(xml), "bad.ptx:7\""));
  CHECK(program_as_is("check " + file + " --suppress " + write("s.txt", "error * bad.ptx:7\n"))
            .code == 0);
}

namespace {

/// One group of 32 lanes; %r1 the lane, %rd1 the buffer.
json cost_rows(const std::string& body, const std::string& more = "") {
  const std::string file = write("cost.ptx", kHeader + R"(
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 s[8192];
  .local .align 16 .b8 own[32];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, s;
)" + body + "\n  ret;\n}\n");
  const Output o = program_as_is("run " + file +
                                 " --device reference --grid 1 --block 32 --arg "
                                 "zero:u32[4096] --check perf --json " +
                                 more);
  CAPTURE(o.err);
  REQUIRE(o.code == 0);
  return json::parse(o.out)["profile"];
}

std::string global_at(unsigned stride, const std::string& access, unsigned offset = 0) {
  return "mul.wide.u32 %rd2, %r1, " + std::to_string(stride) + ";\nadd.u64 %rd2, %rd2, %rd1;\n" +
         access + " [%rd2+" + std::to_string(offset) + "];\n";
}
std::string shared_at(unsigned stride, const std::string& access) {
  return "mul.lo.u32 %r2, %r1, " + std::to_string(stride) + ";\nadd.u32 %r2, %r2, %r9;\n" + access +
         ", [%r2];\n";
}

}  // namespace

TEST_CASE("--check perf: sectors of global memory, counted by hand" * kHostCase) {
  struct Row {
    unsigned stride;
    const char* access;
    unsigned offset, sectors, least;
  };
  for (const Row& r :
       {Row{4, "ld.global.u32 %r3,", 0, 4, 4}, Row{4, "ld.global.u32 %r3,", 4, 5, 4},
        Row{8, "ld.global.u32 %r3,", 0, 8, 4}, Row{128, "ld.global.u32 %r3,", 0, 32, 4},
        Row{0, "ld.global.u32 %r3,", 0, 1, 1}, Row{1, "ld.global.u8 %r3,", 0, 1, 1},
        Row{8, "ld.global.u64 %rd3,", 0, 8, 8}, Row{16, "ld.global.u64 %rd3,", 0, 16, 8},
        Row{16, "ld.global.v4.u32 {%r3, %r4, %r5, %r6},", 0, 16, 16}}) {
    CAPTURE(r.stride);
    CAPTURE(std::string(r.access));
    const json rows = cost_rows(global_at(r.stride, r.access, r.offset));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["requests"] == 1);
    CHECK(rows[0]["lanes"] == 32);
    CHECK(rows[0]["sectors"] == r.sectors);
    CHECK(rows[0]["least_sectors"] == r.least);
  }
}

TEST_CASE("--check perf: passes through the banks, counted by hand" * kHostCase) {
  struct Row {
    unsigned stride;
    const char* access;
    unsigned passes, least;
  };
  for (const Row& r : {Row{4, "ld.shared.u32 %r3", 1, 1}, Row{8, "ld.shared.u32 %r3", 2, 1},
                       Row{128, "ld.shared.u32 %r3", 32, 1}, Row{132, "ld.shared.u32 %r3", 1, 1},
                       Row{0, "ld.shared.u32 %r3", 1, 1}, Row{12, "ld.shared.u32 %r3", 1, 1},
                       Row{16, "ld.shared.u32 %r3", 4, 1}, Row{1, "ld.shared.u8 %r3", 1, 1},
                       Row{8, "ld.shared.u64 %rd3", 2, 2}, Row{16, "ld.shared.u64 %rd3", 4, 2},
                       Row{16, "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}", 4, 4}}) {
    CAPTURE(r.stride);
    CAPTURE(std::string(r.access));
    const json rows = cost_rows(shared_at(r.stride, r.access));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["passes"] == r.passes);
    CHECK(rows[0]["least_passes"] == r.least);
  }
}

TEST_CASE("--check perf: branches, atomics, local memory, lanes that are off" * kHostCase) {
  const json branch = cost_rows(
      "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra a;\nadd.u32 %r3, %r1, 1;\na:\nsetp.lt.u32 %p2, %r1, 99;\n"
      "@%p2 bra b;\nadd.u32 %r3, %r1, 1;\nb:\n");
  REQUIRE(branch.size() == 2);
  CHECK(branch[0]["divergent"] == 1);
  CHECK(branch[1]["divergent"] == 0);
  const json sum = cost_rows("red.global.add.u32 [%rd1], 1;\nred.global.add.u32 [%rd1], 1;\n");
  REQUIRE(sum.size() == 2);
  CHECK(sum[0]["serial"] == 32);
  CHECK(cost_rows(global_at(4, "red.global.add.u32").replace(0, 0, "").substr(0, 0) +
                  "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd2, %rd1;\n"
                  "red.global.add.u32 [%rd2], 1;\n")[0]["serial"] == 1);
  const json own = cost_rows("st.local.u32 [own+4], %r1;\nld.local.u64 %rd3, [own+8];\n");
  REQUIRE(own.size() == 2);
  CHECK(own[0]["sectors"] == 4);
  CHECK(own[1]["sectors"] == 8);
  const json off = cost_rows("setp.gt.u32 %p1, %r1, 99;\n@%p1 ld.global.u32 %r3, [%rd1];\n");
  CHECK(off[0]["executed"] == 1);
  CHECK(off[0]["requests"] == 0);
}

TEST_CASE("--check perf --counters: as ncu --csv" * kHostCase) {
  const std::string csv = scratch() + "/counters.csv";
  cost_rows(global_at(8, "ld.global.u32 %r3,") + global_at(4, "ld.global.u32 %r4,") +
                shared_at(8, "ld.shared.u32 %r5") + "st.shared.u32 [%r2], %r5;\n" +
                "st.local.u32 [own], %r1;\nld.local.u32 %r6, [own];\nst.global.u32 [%rd1], 7;\n"
                // All lanes add to one word; then each to its own; some sums by half of the lanes.
                "red.global.add.u32 [%rd1], 1;\nred.global.add.u32 [%rd1], 1;\n"
                "atom.global.add.u32 %r7, [%rd2], 1;\n"
                ".reg .f32 %f<4>;\n.reg .f64 %fd<4>;\ncvt.rn.f32.u32 %f1, %r1;\n"
                "cvt.rn.f64.u32 %fd1, %r1;\nadd.f32 %f2, %f1, 0f3f800000;\n"
                "sub.f32 %f2, %f2, %f1;\nsetp.lt.u32 %p1, %r1, 16;\n"
                "@%p1 mul.f32 %f2, %f1, %f1;\nfma.rn.f32 %f3, %f1, %f1, %f2;\n"
                "add.f64 %fd2, %fd1, %fd1;\n@!%p1 mul.f64 %fd2, %fd1, %fd1;\n"
                "fma.rn.f64 %fd3, %fd1, %fd1, %fd2;\n",
            "--counters " + csv);
  const Output o = read_as("ncu", csv);
  CAPTURE(o.out);
  CHECK(o.code == 0);
  for (const char* line : {"smsp__inst_executed_op_global_ld.sum inst 2\n",
                           "smsp__inst_executed_op_global_st.sum inst 1\n",
                           "smsp__inst_executed_op_shared_ld.sum inst 1\n",
                           "smsp__inst_executed_op_shared_st.sum inst 1\n",
                           "smsp__inst_executed_op_local_ld.sum inst 1\n",
                           "smsp__inst_executed_op_local_st.sum inst 1\n",
                           "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum request 2\n",
                           "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum request 1\n",
                           "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum request 1\n",
                           "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum request 1\n",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum sector 12\n",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum sector 1\n",
                           "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum sector 4\n",
                           "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum sector 4\n",
                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum - 2\n",
                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum - 2\n",
                           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum - 1\n",
                           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum - 1\n",
                           "smsp__inst_executed_op_global_red.sum inst 2\n",
                           "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum request 2\n",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum sector 2\n",
                           "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum request 1\n",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum sector 4\n",
                           "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum inst 64\n",
                           "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum inst 16\n",
                           "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum inst 32\n",
                           "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum inst 32\n",
                           "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum inst 16\n",
                           "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum inst 32\n"})
    CHECK(contains(o.out, "k " + std::string(line)));
  CHECK(lines_of(o.out) == 29);
  CHECK(found(" --counters " + csv).code == 2);
}
