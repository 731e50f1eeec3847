// run --trace / --cache / --report / --fail-on, cache, trace convert, bench: what comes out, and
// one clear error for bad input. They need no GPU, so they run with the reference device only.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

bool elsewhere() {
  return std::string(device()) != "reference";
}

/// A load on SM 1, a store on SM 0, the load again: it gets the old line.
std::string stale_trace() {
  std::string text =
      "-kernel name = <b>stale</script>\n-grid dim = (2,1,1)\n-block dim = (32,1,1)\n"
      "-accelsim tracer version = 4\n-enable lineinfo = 0\n";
  const auto add = [&](char group, const std::string& instruction) {
    text += "#BEGIN_TB\nthread block = ";
    text += group;
    text += ",0,0\nwarp = 0\ninsts = 1\n" + instruction + " 4 1 0x7f0000000000 4\n#END_TB\n";
  };
  add('1', "0010 ffffffff 1 R4 LDG.E 1 R2");
  add('0', "0020 ffffffff 0 STG.E 2 R2 R4");
  add('1', "0030 ffffffff 1 R4 LDG.E 1 R2");
  return write("stale.traceg", text);
}

const std::string kSaxpy = LANEWISE_TEST_DATA
    "/../samples/kernels/saxpy.ptx --grid 4 --block 256 --arg i32:1000 --arg f32:2 "
    "--arg zero:f32[1000] --arg zero:f32[1000] ";

/// The counters of a JSON report that a conversion must keep.
json counters(const std::string& trace) {
  const Output o = program("cache " + trace + " --preset gv100 --json");
  REQUIRE_MESSAGE(o.code == 0, o.err);
  return json::parse(o.out)["presets"][0]["caches"];
}

void one_error(const Output& o, int code, const std::string& part) {
  CAPTURE(o.err);
  CHECK(o.code == code);
  CHECK(lines_of(o.err) == 1);
  CHECK(o.err.rfind("lanewise: error: ", 0) == 0);
  CHECK(contains(o.err, part));
}

}  // namespace

/// A kernel whose prefetch nobody uses, with and without the source's lines.
json sarif_of(const std::string& name, const std::string& place) {
  const std::string ptx = write(
      name, ".version 7.8\n.target sm_80\n.address_size 64\n" + place +
                ".visible .entry k(.param .u64 p)\n{\n.reg .b64 a;\nld.param.u64 a, [p];\n"
                "cvta.to.global.u64 a, a;\n" +
                (place.empty() ? "" : ".loc 1 77 3\n") + "prefetch.global.L1 [a];\nret;\n}\n");
  const std::string out = scratch() + "/" + name + ".sarif";
  const Output o = program("run " + ptx + " --grid 1 --block 32 --arg zero:u32[64] --cache ga100 " +
                           "--device reference --report " + out);
  REQUIRE_MESSAGE(o.code == 0, o.err);
  return json::parse(slurp(out))["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
}

TEST_CASE("run --report FILE.sarif: a place is a line of the file it names") {
  if (elsewhere()) return;
  const json own = sarif_of("plain.ptx", "");
  CHECK(own["artifactLocation"]["uri"] == scratch() + "/plain.ptx");
  CHECK(own["region"]["startLine"] == 9);
  const json source = sarif_of("lines.ptx", ".file 1 \"kernel.cu\"\n");
  CHECK(source["artifactLocation"]["uri"] == "kernel.cu");
  CHECK(source["region"]["startLine"] == 77);
}

TEST_CASE("cache: what is left dirty, and each preset's own count") {
  if (elsewhere()) return;
  const std::string trace = stale_trace();
  const Output o = program("cache " + trace + " --preset gv100,tahiti --json");
  REQUIRE_MESSAGE(o.code == 0, o.err);
  const json j = json::parse(o.out);
  CHECK(j["findings"][0]["counts"] == json({{"gv100", 1}, {"tahiti", 2}}));
  CHECK(j["presets"][0]["caches"]["L2"]["dirty_bytes_left"] == 128);
  CHECK(j["presets"][0]["caches"]["L2"]["write_sector_hits"] == 4);
  CHECK(j["presets"][1]["caches"]["L2"]["dirty_bytes_left"] == 0);  // written back with the kernel
  const Output text = program("cache " + trace + " --preset gv100");
  CHECK(contains(text.out, "128 dirty bytes in 1 lines are left in L2 at the end\n"));
}

TEST_CASE("cache: a stale read is found, and every report names it") {
  if (elsewhere()) return;
  const std::string trace = stale_trace(), base = scratch() + "/stale";
  const Output o = program("cache " + trace + " --preset gv100,infinite --fail-on H1 --report " +
                           base + ".json --report " + base + ".sarif --report " + base +
                           ".csv --report " + base + ".txt --report " + base + ".html");
  CHECK_MESSAGE(o.code == 1, o.err);
  CHECK(contains(o.out, "H1 stale read across SMs  error  x 1"));
  CHECK(slurp(base + ".txt") == o.out);

  const json j = json::parse(slurp(base + ".json"));
  REQUIRE(j["findings"].size() == 1);
  CHECK(j["findings"][0]["id"] == "H1");
  CHECK(j["findings"][0]["at"]["pc"] == 0x30);
  CHECK(j["findings"][0]["other"]["pc"] == 0x20);
  CHECK(j["findings"][0]["presets"] == json({"gv100", "infinite"}));

  const std::string csv = slurp(base + ".csv");
  CHECK(contains(csv, "preset,scope,pc,instruction,metric,value\n"));
  CHECK(contains(csv, "gv100,instruction,0x30,\"LDG.E\",stale_requests,1\n"));

  CHECK(program("cache " + trace + " --preset gv100 --fail-on H2,H9").code == 0);
}

TEST_CASE("cache: counters with the vendor's names are those that a person counts") {
  if (elsewhere()) return;
  // Four sectors each: a load that neither cache has, a store past L1 to what L2 has now, the load
  // again, which L1 still has. Then two stores of other lines, the first to leave and the last.
  const std::string kernel = write("counted.ptx", R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd3], %r2;
  ld.global.u32 %r3, [%rd3];
  createpolicy.fractional.L2::evict_first.b64 %rd4, 1.0;
  createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;
  st.global.L2::cache_hint.u32 [%rd3+4096], %r3, %rd4;
  st.global.L2::cache_hint.u32 [%rd3+8192], %r3, %rd5;
  ret;
})");
  const std::string report = scratch() + "/counted.csv";
  const Output o = program(
      "run " + kernel +
      " --device reference --grid 1 --block 32 --arg zero:u32[4096] --cache gv100 --report " +
      report);
  REQUIRE_MESSAGE(o.code == 0, o.err);
  const std::string csv = slurp(report), l1 = "l1tex__t_", lsu = "_pipe_lsu_mem_global_op_",
                    l2 = "lts__t_sectors_";
  const std::vector<std::pair<std::string, int>> counted = {
      {l1 + "requests" + lsu + "ld", 2},
      {l1 + "requests" + lsu + "st", 3},
      {l1 + "sectors" + lsu + "ld", 8},
      {l1 + "sectors" + lsu + "st", 12},
      {l1 + "sectors" + lsu + "ld_lookup_hit", 4},
      {l1 + "sectors" + lsu + "ld_lookup_miss", 4},
      {l1 + "sectors" + lsu + "st_lookup_hit", 4},
      {l1 + "sectors" + lsu + "st_lookup_miss", 8},
      {l2 + "op_read", 4},
      {l2 + "op_read_lookup_hit", 0},
      {l2 + "op_read_lookup_miss", 4},
      {l2 + "op_write", 12},
      {l2 + "op_write_lookup_hit", 4},
      {l2 + "op_write_lookup_miss", 8},
      {l2 + "lookup_hit", 4},
      {l2 + "lookup_miss", 12},
      {l2 + "evict_normal", 8},
      {l2 + "evict_first", 4},
      {l2 + "evict_last", 4}};
  for (const auto& counter : counted) {
    const std::string line =
        fmt::format("gv100,total,,,{}.sum,{}\n", counter.first, counter.second);
    CHECK_MESSAGE(contains(csv, line), line);
  }
}

TEST_CASE("cache: SARIF has what version 2.1.0 requires") {
  if (elsewhere()) return;
  const std::string path = scratch() + "/r.sarif";
  REQUIRE(program("cache " + stale_trace() + " --preset gv100 --report " + path).code == 0);
  const json j = json::parse(slurp(path));
  CHECK(j["version"] == "2.1.0");
  REQUIRE(j["runs"].size() == 1);
  const json& driver = j["runs"][0]["tool"]["driver"];
  CHECK(driver["name"] == "lanewise");
  CHECK(driver["rules"].size() == 18);
  REQUIRE(j["runs"][0]["results"].size() == 1);
  const json& result = j["runs"][0]["results"][0];
  CHECK(result["message"]["text"].is_string());
  CHECK(result["level"] == "error");
  const json& rule = driver["rules"][result["ruleIndex"].get<size_t>()];
  CHECK(rule["id"] == result["ruleId"]);
  CHECK(rule["shortDescription"]["text"] == "stale read across SMs");
  CHECK(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] ==
        "<b>stale</script>+0x30");
  CHECK(result["relatedLocations"][0]["message"]["text"] == "other side: STG.E");
}

TEST_CASE("cache: the HTML page is one file that allows itself no network") {
  if (elsewhere()) return;
  const std::string path = scratch() + "/page.html";
  REQUIRE(program("cache " + stale_trace() + " --preset gv100,fiji --report " + path).code == 0);
  const std::string page = slurp(path);  // what it shows: tests/page/
  CHECK(contains(page, "Content-Security-Policy\" content=\"default-src 'none';"));
  for (const char* part :
       {"src=\"", "href=\"http", "@import", "url(", "/*DATA*/", "/*D3*/", "/*SCRIPT*/"})
    CHECK_FALSE(contains(page, part));
  CHECK(contains(page, "Redistribution and use in source and binary forms"));
}

TEST_CASE(
    "cache: a report for Perfetto has the counters, processes with names and both sides of "
    "findings") {
  if (elsewhere()) return;
  const std::string base = scratch() + "/perfetto";
  REQUIRE(program("cache " + stale_trace() + " --preset gv100 --report " + base +
                  ".perfetto.json --report " + base + ".json")
              .code == 0);
  const json caches = json::parse(slurp(base + ".json"))["presets"][0]["caches"];
  std::map<std::string, int64_t> sums;
  std::map<int, std::string> names;
  std::vector<json> instants;
  const json trace = json::parse(slurp(base + ".perfetto.json"));
  for (const json& e : trace["traceEvents"]) {
    if (e["name"] == "process_name") names[e["pid"]] = e["args"]["name"];
    if (e["ph"] == "C")
      for (const auto& [what, n] : e["args"].items())
        sums[e["name"].get<std::string>() + " " + what] += n.get<int64_t>();
    if (e["ph"] == "i") instants.push_back(e);
    if (e["ph"] == "X") CHECK(e["dur"] == 3);
  }
  CHECK(sums["L1 sectors hits"] == caches["L1"]["sector_hits"]);
  CHECK(sums["L1 sectors misses"] == caches["L1"]["sector_misses"]);
  CHECK(sums["L2 sectors hits"] ==
        caches["L2"]["sector_hits"].get<int>() + caches["L2"]["write_sector_hits"].get<int>());
  CHECK(sums["L2 sectors misses"] ==
        caches["L2"]["sector_misses"].get<int>() + caches["L2"]["write_sector_misses"].get<int>());
  CHECK(sums["stale reads stale"] == 1);
  REQUIRE(instants.size() == 2);
  CHECK(instants[0]["name"] == "H1 stale read across SMs");
  CHECK(names[instants[0]["pid"]] == "SM 1");
  CHECK(instants[0]["ts"] == 2);
  CHECK(instants[1]["name"] == "H1 stale read across SMs, other side");
  CHECK(names[instants[1]["pid"]] == "SM 0");
  CHECK(instants[1]["ts"] == 1);
  CHECK(names.size() == 4);  // launches, L2, two SMs
}

TEST_CASE("trace convert FILE.json: an SM is a process, and its tracks are bounded") {
  if (elsewhere()) return;
  const std::string base = scratch() + "/tracks";
  REQUIRE(run(std::string(LANEWISE_TEST_DATA) +
              "/../samples/kernels/saxpy.ptx --grid 100 --block 64 --arg i32:6400 --arg f32:2 "
              "--arg zero:f32[6400] --arg zero:f32[6400] --trace " +
              base + ".lwt")
              .code == 0);
  REQUIRE(program("trace convert " + base + ".lwt " + base + ".json").code == 0);
  std::set<std::pair<int, int>> tracks, named;
  std::set<int> processes, named_processes;
  size_t waves = 0;
  const json trace = json::parse(slurp(base + ".json"));
  for (const json& e : trace["traceEvents"]) {
    if (e["name"] == "process_name") named_processes.insert(e["pid"].get<int>());
    if (e["name"] == "thread_name") named.emplace(e["pid"], e["tid"]);
    if (e["ph"] != "X") continue;
    ++waves;
    processes.insert(e["pid"].get<int>());
    tracks.emplace(e["pid"], e["tid"]);
  }
  CHECK(waves == 600);  // 200 waves, three instructions each
  for (const int pid : processes) CHECK(named_processes.contains(pid));
  CHECK(named == tracks);
  CHECK(tracks.size() <= 64 * processes.size());
}

TEST_CASE("run: --trace and --cache report the same") {
  if (elsewhere()) return;
  const std::string trace = scratch() + "/saxpy.lwt", report = scratch() + "/saxpy.json";
  const Output o =
      run(kSaxpy + "--cache gv100 --fail-on any --trace " + trace + " --report " + report);
  REQUIRE_MESSAGE(o.code == 0, o.err);
  CHECK(contains(o.out, "0 errors, 0 warnings, 0 advice; 96 wave instructions"));
  CHECK(json::parse(slurp(report))["presets"][0]["caches"] == counters(trace));
}

TEST_CASE("trace convert: every format, and what can be read back has the same counts") {
  if (elsewhere()) return;
  const std::string base = scratch() + "/convert";
  REQUIRE(run(kSaxpy + "--trace " + base + ".lwt").code == 0);
  const json wanted = counters(base + ".lwt");
  CHECK(wanted["L1"]["reads"] == 64);
  for (const char* ending : {".traceg", ".din", ".json"})
    REQUIRE(program("trace convert " + base + ".lwt " + base + ending).code == 0);
  CHECK(counters(base + ".traceg") == wanted);
  CHECK(contains(slurp(base + ".traceg"), "LDG.E 0 4 1 0x"));
  CHECK(lines_of(slurp(base + ".din")) == 3000);
  CHECK(json::parse(slurp(base + ".json"))["traceEvents"].size() > 96);
}

TEST_CASE("trace convert: SASS opcodes and holes in a wave survive a round trip") {
  if (elsewhere()) return;
  const std::string head =
      "-kernel name = k\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n"
      "-accelsim tracer version = 4\n-enable lineinfo = 0\n#BEGIN_TB\nthread block = 1,0,0\n";
  const std::string in =
      write("in.traceg", head +
                             "warp = 1\ninsts = 3\n"
                             "0010 0000000b 1 R4 LDG.E.CG.64 1 R2 8 0 0x1000 0x1010 0x4000\n"
                             "0020 ffffffff 0 CCTL.IVALL 0 0\n"
                             "0030 80000000 0 STG.E.U8 2 R2 R4 1 1 0x2000 0\n#END_TB\n");
  const std::string once = scratch() + "/once.traceg", twice = scratch() + "/twice.traceg";
  REQUIRE(program("trace convert " + in + " " + once).code == 0);
  REQUIRE(program("trace convert " + once + " " + twice).code == 0);
  const std::string text = slurp(once);
  CHECK(text == slurp(twice));
  CHECK(contains(text, "thread block = 1,0,0\n\nwarp = 1\ninsts = 3\n"));
  CHECK(contains(text, "0 0010 0000000b 0 LDG.E.CG.64 0 8 2 0x0000000000001000 16 12272\n"));
  CHECK(contains(text, "0 0020 ffffffff 0 CCTL.IVALL 0 0\n"));
  CHECK(counters(in) == counters(once));
}

TEST_CASE(
    "run --cache: samples, cubins and code objects that are correct have no error or warning") {
  if (elsewhere()) return;
  std::ifstream list(LANEWISE_TEST_DATA "/data/correct_kernels.txt");
  size_t runs = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    CAPTURE(line);
    const Output o =
        run(LANEWISE_TEST_DATA "/" + line + " --cache gm204,gv100,fiji,infinite --fail-on W");
    CAPTURE(o.out);
    CHECK_MESSAGE(o.code == 0, o.err);
    ++runs;
  }
  CHECK(runs >= 28);
}

TEST_CASE("cache and trace: bad input is one clear error") {
  if (elsewhere()) return;
  const std::string trace = stale_trace();
  const auto cache = [&](const std::string& rest) { return program("cache " + rest); };
  one_error(cache(trace + " --preset gtx9000"), 2, "gtx9000");
  one_error(cache(trace + " --preset file:" + scratch() + "/none.json"), 2, "none.json");
  one_error(cache(scratch() + "/none.lwt --preset gv100"), 2, "none.lwt");
  one_error(cache(trace + " --preset gv100 --fail-on H19"), 2, "--fail-on 'H19': expected H1");
  one_error(cache(trace + " --preset gv100 --report " + scratch() + "/r.pdf"), 2,
            "expected .txt, .json, .csv, .sarif, .html or .perfetto.json");
  one_error(cache(trace + " --preset gv100 --report " + scratch() + "/no/such/r.html"), 2,
            "cannot write ");
  one_error(run(kSaxpy + "--report r.txt"), 2, "--report and --fail-on need --cache");
  one_error(run(kSaxpy + "--cache gtx9000"), 2, "gtx9000");
  one_error(run(kSaxpy + "--trace " + scratch() + "/t.xyz"), 2, "expected .lwt");
  one_error(program("trace convert " + trace + " " + scratch() + "/t.xyz"), 2, "expected .lwt");
  one_error(cache(write("bad.traceg", "-kernel name = k\nrubbish\n") + " --preset gv100"), 2,
            "bad.traceg:2: ");
}

TEST_CASE("cache: a truncated trace is read up to its last whole block, and says so") {
  if (elsewhere()) return;
  const std::string whole = scratch() + "/whole.lwt";
  REQUIRE(run(kSaxpy + "--trace " + whole).code == 0);
  std::string bytes = slurp(whole);
  bytes.resize(bytes.size() - 5);
  const Output o = program("cache " + write("cut.lwt", bytes) + " --preset gv100");
  CHECK(o.code == 1);
  CHECK(lines_of(o.err) == 1);
  CHECK(o.err.rfind("lanewise: warning: ", 0) == 0);
  const Output partial = program("cache " + scratch() + "/cut.lwt --preset gv100 --partial");
  CHECK(partial.code == 0);
  CHECK(partial.out == o.out);
}

/// A line that is written again and again, and a stream of stores that nobody reads, with a hint.
std::string streaming_trace() {
  std::string text =
      "-kernel name = stream\n-grid dim = (2,1,1)\n-block dim = (32,1,1)\n"
      "-accelsim tracer version = 4\n-enable lineinfo = 0\n";
  for (const std::string group : {"0", "1"}) {
    text += "#BEGIN_TB\nthread block = " + group + ",0,0\nwarp = 0\ninsts = 60\n";
    for (unsigned i = 0; i < 10; ++i) {
      text += "0010 ffffffff 0 STG.E 2 R2 R4 4 1 0x10000 4\n";
      for (unsigned k = 0; k < 4; ++k)
        text += fmt::format("0020 ffffffff 0 STG.E.EF 2 R2 R4 4 1 {:#x} 4\n",
                            0x20000 + 128 * (4 * i + k));
    }
    text += "#END_TB\n";
  }
  return write("stream.traceg", text);
}
std::string tiny_preset() {
  return "file:" + write("tiny.json", R"({"name": "tiny", "sms": 1, "l1": {"sets": 1, "ways": 4},
    "l2": {"sets": 1, "ways": 4}})");
}

TEST_CASE("cache --compare: what did the hint do?") {
  if (elsewhere()) return;
  const std::string trace = streaming_trace(), report = scratch() + "/hints.json";
  const Output o =
      program("cache " + trace + " --preset " + tiny_preset() + " --compare --report " + report);
  REQUIRE_MESSAGE(o.code == 0, o.err);
  // Hand-derived: without the hint the line goes down in each of 20 turns, with it never.
  CHECK(
      contains(o.out, "STG.E, which has no hint: others' hints cut L2 sector misses from 80 to 4"));
  CHECK(contains(o.out, "cut L2 write-backs from 20 to 0"));
  CHECK(contains(o.out, "who evicted whom from L2"));
  CHECK(contains(o.out, "trace.interleave = serial\n"));
  const json j = json::parse(slurp(report));
  CHECK(j["policies"] == json({{"trace.interleave", "serial"}}));
  const json& hints = j["presets"][0]["hints"];
  CHECK(hints["instructions"][0]["hints"] == "L1 evict_first");
  CHECK(hints["totals"]["L2 write-backs"] == json({{"kept", 77}, {"ignored", 96}}));
  CHECK(hints["evictions"]["L2"][0] == json({{"by", 1}, {"of", 1}, {"kept", 77}, {"ignored", 57}}));
  // The counters beside it are those of a run without it.
  const json alone =
      json::parse(program("cache " + trace + " --preset " + tiny_preset() + " --json").out);
  CHECK(alone["presets"][0]["caches"] == j["presets"][0]["caches"]);
  CHECK_FALSE(alone["presets"][0].contains("hints"));
}

TEST_CASE("run --without-hints, --reuse and --sets say the same as cache does of the trace") {
  if (elsewhere()) return;
  const std::string trace = scratch() + "/all.lwt";
  const Output o =
      run(kSaxpy + "--cache gv100 --without-hints --reuse --sets --json --trace " + trace);
  REQUIRE_MESSAGE(o.code == 0, o.err);
  const json ran = json::parse(o.out)["cache"]["presets"][0];
  const json read =
      json::parse(program("cache " + trace + " --preset gv100 --compare --reuse --sets --json")
                      .out)["presets"][0];
  for (const char* part : {"hints", "reuse", "sets"}) CHECK(ran[part] == read[part]);
  // 1000 floats of two arrays are 32 lines each; saxpy loads both and stores one.
  CHECK(ran["reuse"]["all"]["uses"] == 96);
  CHECK(ran["reuse"]["all"]["first_uses"] == 64);
  CHECK(ran["sets"]["L2"]["missing_lines"] ==
        json({{"first_use", 64}, {"capacity", 0}, {"conflict", 0}, {"invalidated", 0}}));
  one_error(run(kSaxpy + "--reuse"), 2, "need --cache");
  one_error(run(kSaxpy + "--cache gv100 --cache-exact --compare"), 2, "--cache-exact");
}

TEST_CASE("cache --policy trace.interleave: the order of warps, and that it was assumed") {
  if (elsewhere()) return;
  const std::string trace = streaming_trace();
  const Output o =
      program("cache " + trace + " --preset gv100 --policy trace.interleave=round-robin" +
              " --policy trace.resident=2");
  REQUIRE_MESSAGE(o.code == 0, o.err);
  CHECK(contains(o.out, "trace.interleave = round-robin\ntrace.resident = 2\n"));
  one_error(program("cache " + trace + " --preset gv100 --policy trace.interleave=x"), 2,
            "trace.interleave=round-robin or serial");
  const std::string out = scratch() + "/robin.din", serial = scratch() + "/serial.din";
  REQUIRE(program("trace convert " + trace + " " + out + " --policy trace.interleave=round-robin")
              .code == 0);
  REQUIRE(program("trace convert " + trace + " " + serial).code == 0);
  CHECK(lines_of(slurp(out)) == lines_of(slurp(serial)));
  CHECK(slurp(out) != slurp(serial));
}

TEST_CASE("run SCRIPT.lw: --trace, --cache and --report over all its launches") {
  if (elsewhere()) return;
  const std::string script = LANEWISE_TEST_DATA "/conformance/ptx_loops.lw";
  const std::string trace = scratch() + "/script.lwt", report = scratch() + "/script.json";
  const Output o = program("run " + script + " --device reference --cache gv100 --trace " + trace +
                           " --report " + report);
  REQUIRE_MESSAGE(o.code == 0, o.err);
  CHECK(contains(o.out, " cases passed on "));
  const json ran = json::parse(slurp(report))["presets"][0];
  CHECK(ran["wave_instructions"].get<int>() > 10);
  CHECK(ran["caches"] == counters(trace));
  CHECK(ran["instructions"].size() > 2);
  one_error(program("run " + script + " --device reference --cache gv100 --cache-exact"), 2,
            "cache \"PRESET\" exact");
}

TEST_CASE("bench: figures by name, as text and JSON") {
  if (elsewhere()) return;
  const Output o =
      program("bench --filter 'cache/hot|checks/copy' --repeats 1 --device reference --json");
  REQUIRE_MESSAGE(o.code == 0, o.err);
  const json j = json::parse(o.out);
  CHECK(j["device"] == "reference");
  REQUIRE(j["benchmarks"].size() == 2);
  CHECK(j["benchmarks"][0]["name"] == "checks/copy");
  const json& hot = j["benchmarks"][1];
  CHECK(hot["name"] == "cache/hot");
  CHECK(hot["l1_misses"] == 128);  // 16 KiB of 128-byte lines
  CHECK(hot["value"].get<double>() / hot["other"].get<double>() ==
        doctest::Approx(hot["ratio"].get<double>()));
  CHECK(contains(program("bench --list").out, "trace/saxpy\n"));
  one_error(program("bench --filter nothing"), 2, "matches none of: ");
  one_error(program("bench --filter '('"), 2, "expected a regular expression");
}

/// 256 lanes load 1024 floats with a policy word in a register; `make_policy` makes it in %rd5.
json report_with_policy(const std::string& make_policy) {
  const std::string kernel = write("hints.ptx", R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry hints(.param .u64 a, .param .f32 fraction) {
  .reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .f32 %f<6>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [a];
  ld.param.f32 %f5, [fraction];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  )" + make_policy + R"(
  mov.b32 %r2, 0;
again:
  mov.b64 %rd6, %rd5;
  ld.global.L2::cache_hint.f32 %f1, [%rd3], %rd6;
  add.s64 %rd3, %rd3, 1024;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 4;
  @%p1 bra again;
  ret;
})");
  const std::string report = scratch() + "/hints.json";
  const Output o = program("run " + kernel + " --grid 1 --block 256 --arg zero:f32[1024] --arg " +
                           "f32:0.5 --cache ga100 --report " + report + " --device " + device());
  REQUIRE_MESSAGE(o.code == 0, o.err);
  return json::parse(slurp(report));
}
json classes_with_policy(const std::string& make_policy) {
  const json report = report_with_policy(make_policy);
  CHECK_FALSE(contains(report.dump(), "\"H10\""));
  return report["presets"][0]["caches"]["L2"]["sectors_by_class"];
}

TEST_CASE("cache: the policy words that createpolicy makes of constants count, through copies") {
  json all = classes_with_policy("createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;");
  CHECK(all == json({{"normal", 0}, {"first", 0}, {"last", 128}, {"unchanged", 0}}));
  all = classes_with_policy("createpolicy.fractional.L2::evict_first.b64 %rd5;");
  CHECK(all["first"] == 128);
  // Half of the lines, chosen by their address.
  all =
      classes_with_policy("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd5, 0.5;");
  CHECK(all["last"].get<int>() + all["first"].get<int>() == 128);
  CHECK(all["last"] > 30);
  CHECK(all["first"] > 30);
}

TEST_CASE("cache: policy words that the run makes count, too") {
  // The parameter is 0.5.
  json all = classes_with_policy("createpolicy.fractional.L2::evict_last.b64 %rd5, %f5;");
  CHECK(all["last"].get<int>() + all["unchanged"].get<int>() == 128);
  CHECK(all["last"] > 30);
  CHECK(all["unchanged"] > 30);
  const auto range = [](int offset) {
    return fmt::format(
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd5, "
        "[%rd1+{}], 4096, 8192;",
        offset);
  };
  CHECK(classes_with_policy(range(0))["last"] == 128);
  CHECK(classes_with_policy(range(65536))["first"] == 128);
  // Two words for one register: by wave, and by the halves of each.
  const auto two_words = [](const std::string& condition) {
    return "createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;\n" + condition +
           "@%p1 createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0;";
  };
  all = classes_with_policy(two_words("setp.lt.u32 %p1, %r1, 32;\n"));
  CHECK(all == json({{"normal", 0}, {"first", 16}, {"last", 112}, {"unchanged", 0}}));
  all = classes_with_policy(two_words("and.b32 %r3, %r1, 16;\nsetp.ne.u32 %p1, %r3, 0;\n"));
  CHECK(all == json({{"normal", 0}, {"first", 64}, {"last", 64}, {"unchanged", 0}}));
  // The text report names the policy, however long the instruction is.
  const Output text = program("run " + scratch() + "/hints.ptx --grid 1 --block 256 --arg " +
                              "zero:f32[1024] --arg f32:0.5 --cache ga100 --device " + device());
  CHECK(contains(text.out, " {first}  "));
  CHECK(contains(text.out, " {last}  "));
}

TEST_CASE("cache: a word that the run takes from elsewhere is no policy") {
  const json report = report_with_policy("mov.b64 %rd5, %rd1;");
  CHECK(report["presets"][0]["caches"]["L2"]["sectors_by_class"]["normal"] == 128);
  CHECK(contains(report.dump(), "the policy operand is no word that createpolicy makes"));
}

TEST_CASE("bench: a device that does not exist is an error, even where none is needed") {
  if (elsewhere()) return;
  one_error(program("bench --device nope --filter ^cache/hot"), 3, "nope");
}

TEST_CASE("preset list --json has a title for every preset and variant" * kHostCase) {
  const json titles = json::parse(program("preset list --json").out);
  CHECK(contains(titles.at("gm204").get<std::string>(), "GTX 980"));
  CHECK(titles.contains("gm204+lines32"));
}
