// `explain`: the numbers it prints, how it is asked, and what it says to wrong questions. It always
// works on the reference engine, so one run of these tests is enough.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/script/script.hpp"
#include "tests/cli/support.hpp"
#include "tests/support/witness.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

bool once() {
  return std::string(device()) == "reference";
}

Output explain(const std::string& arguments) {
  return program("explain " + arguments);
}

const std::string kScripts = LANEWISE_TEST_DATA "/conformance/";

/// What the engine accesses when this case runs.
std::vector<witness::Access> truth(const std::string& file, const std::string& name) {
  using namespace lanewise;
  const script::Script s = script::parse(slurp(file), 0);
  const auto it = std::ranges::find(s.cases, name, &script::Case::name);
  REQUIRE(it != s.cases.end());
  witness::Engine engine;
  script::RunOptions options;
  options.judge_faults = false;
  script::run(*it, engine, options);
  return engine.accesses();
}

}  // namespace

TEST_CASE("the addresses in the JSON and in the text are those of the run") {
  if (!once()) return;
  for (const auto& [script, name] : std::initializer_list<std::pair<std::string, std::string>>{
           {"sass_memory.lw", "LDG.E.U16 at offset 3"},
           {"sass_memory.lw", "STG.E.128 forces 16 bytes, offset 15"},
           {"ptx_ld.lw", "ld.global.s8 into a 64-bit register"},
           {"ptx_st.lw", "st.global.v2.u64"},
           {"gcn_buffer.lw", "buffer_load_dword with offset:3"},
           {"gcn_buffer.lw", "buffer_store_dwordx4"},
           {"gcn_buffer.lw",
            "neither idxen nor offen: every lane reads the same dword, vaddr is not looked at"}}) {
    CAPTURE(name);
    const std::string file = kScripts + script;
    const std::string asked = fmt::format("{} --case '{}'", file, name);
    const Output o = explain(asked + " --json");
    REQUIRE(o.code == 0);
    std::vector<witness::Access> reported;
    const json all = json::parse(o.out);
    for (const json& i : all["instructions"])
      for (const json& lane : i["lanes"])
        for (const json& a : lane["accesses"])
          if (a["done"].get<bool>() || !a["fault"].is_null())
            reported.emplace_back(i["line"], lane["thread"], a["address"], a["size"]);
    std::ranges::sort(reported);
    const auto wanted = truth(file, name);
    REQUIRE(!wanted.empty());
    CHECK(reported == wanted);
    // One lane in full: its text holds each of its addresses.
    const Output text = explain(asked + " --lane 5");
    CHECK(text.code == 0);
    for (const auto& [line, thread, address, bytes] : wanted) {
      if (thread == 5) CHECK(contains(text.out, fmt::format("0x{:x}\n", address)));
    }
  }
}

TEST_CASE("an instruction on its own: formula, range, bytes, conversion, registers, caches") {
  if (!once()) return;
  const Output sass = explain(
      "--text 'LDG.E.CG.S16 R0, [R2+3]' --set 'buffer b u8[64] = 0x80 + i' --set 'reg R2:R3 = b + "
      "8 * lane' --lane 2");
  CHECK(sass.code == 0);
  CHECK(sass.out ==
        "text: LDG.E.CG.S16 R0, [R2+3]\n"
        "  cache: sass.ld.cg: the first-level data cache, passed by, cached in L2 only\n"
        "  lane 2 of wave 0\n"
        "    load of 2 bytes from global memory\n"
        "      address = R3:R2 (0x10000010) + 0x3 = 0x10000013\n"
        "      aligned to 2 bytes: 0x10000013 -> 0x10000012\n"
        "      inside 'b', bytes 18 to 19 of 64\n"
        "      bytes 92 93: s16, sign-extended to 32 bits\n"
        "    R0: 0x00000000 -> 0xffff9392 (4294939538)\n");
  const Output fault = explain(
      "--text 'ld.global.u32 %r1, [%rd1+4]' --set 'buffer b u32[4] = iota' --set 'reg .b64 %rd1 = "
      "b + 2 * lane'");
  CHECK(contains(fault.out, "lane 1 of wave 0: load at 0x10000006, fault misaligned: inside 'b'"));
  CHECK(contains(fault.out, "%r1 = 0x00000002"));
  const Output off = explain(
      "--text '@P0 IADD R0, R0, 0x5' --set 'reg P0 = lane % 2' --set 'reg R0 = lane' --set "
      "'active lanes 0..3'");
  CHECK(contains(off.out, "lane 0 of wave 0: off\n"));
  CHECK(contains(off.out, "R0 = R0 (1) + 5 = 6\n"));
  CHECK(contains(off.out, "lane 4 of wave 0: does not come here\n"));
  const Output wait = explain("--text 's_waitcnt vmcnt(0)' --set 'target gfx700'");
  CHECK(contains(wait.out, "changes no register and no memory; who comes by is not recorded\n"));
  CHECK(!contains(wait.out, "does not come here"));
}

TEST_CASE("a GCN descriptor: swizzled formula, range by records, format per component") {
  if (!once()) return;
  const std::string state =
      " --set 'buffer b u32[64] = iota' --set 'reg s[8:11] = descriptor(base = b, stride = 8, "
      "num_records = 20, swizzle = 1, element_size = 4, index_stride = 8)' --set 'reg v1 = lane'";
  const Output o =
      explain("--text 'buffer_load_dword v2, v1, s[8:11], 0 idxen offset:4' --lane 19" + state);
  CHECK(contains(o.out, "BASE 0x10000000, STRIDE 8, NUM_RECORDS 20, swizzled with ELEMENT_SIZE 4"));
  CHECK(contains(o.out,
                 "inside = (19 / 8 * stride 8 + 4 / 4 * 4) * 8 + 19 % 8 * 4 + 4 % 4 = 20 * 8 + 12 "
                 "+ 0 = 172\n"));
  CHECK(contains(o.out, "in range: index 19 < NUM_RECORDS 20, offset 4 < stride 8; inside 'b'"));
  CHECK(contains(o.out, "v2: 0x00000000 -> 0x0000002b (43)\n"));
  const Output over =
      explain("--text 'buffer_load_dword v2, v1, s[8:11], 0 idxen' --lane 20" + state);
  CHECK(contains(over.out, "out of range: index 20 >= NUM_RECORDS 20; reads 0\n"));
  const Output typed = explain(
      "--text 'tbuffer_load_format_xy v[4:5], off, s[8:11], 0 "
      "format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_SINT] offset:4' --lane 0 --set 'buffer b "
      "u32[4] = [0, 0x8000fffe]' --set 'reg s[8:11] = descriptor(base = b, num_records = 16)'");
  CHECK(contains(typed.out, "DATA_FORMAT 16_16, NUM_FORMAT SINT"));
  CHECK(contains(typed.out, "x y z w 0xfffffffe 0xffff8000"));
  const Output wide = explain(
      "--text 'buffer_load_dword v2, v[4:5], s[8:11], 0 addr64 offset:8' --lane 1 --set 'buffer b "
      "u32[8] = iota' --set 'reg s[8:11] = descriptor(base = b)' --set 'reg v[4:5] = 4 * lane'");
  CHECK(contains(wide.out,
                 "ADDR64: BASE 0x10000000 + vector address 4 + offset 8 + SOFFSET 0 = "
                 "0x1000000c, low 48 bits\n"));
}

TEST_CASE("one line of a script or a kernel file, and one pass of a loop") {
  if (!once()) return;
  const std::string loop = write("loop.lw", R"(isa ptx
buffer b u32[64] = iota
case "loops" {
  reg .b64 %a = b + 4 * lane
  reg .b32 %r, %n = 3
  reg .pred %p
  code """
    L:
    ld.global.u32 %r, [%a];
    add.u64 %a, %a, 16;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra L;
  """
}
)");
  const Output third = explain(loop + ":9 --lane 1 --visit 3");
  CHECK(third.code == 0);
  CHECK(contains(third.out, "carried out 3 times"));
  CHECK(contains(third.out, "= 0x10000024\n"));
  CHECK(!contains(third.out, "add.u64"));
  const Output all = explain(loop + " --lane 1");
  CHECK(contains(all.out, "loop.lw:10: add.u64"));
  CHECK(contains(all.out, "%n = %n (3) - 1 = 2"));
  const std::string saxpy = LANEWISE_TEST_DATA "/kernels/data/ptx/saxpy.sm75.ptx";
  const std::string text = slurp(saxpy);
  const auto line = lines_of(text.substr(0, text.find("st.global"))) + 1;
  const std::string asked = fmt::format("{}:{} --set 'buffer x f32[64] = iota'", saxpy, line);
  const Output kernel =
      explain(asked + " --launch 'saxpy grid 1 block 32 args 32, 2.0, x, x' --lane 3");
  CHECK(kernel.code == 0);
  CHECK(contains(kernel.out, "store of 4 bytes to global memory"));
  CHECK(contains(kernel.out, "= 0x1000000c\n"));
  CHECK(contains(kernel.out, "bytes 00 00 10 41: u32\n"));  // 9.0f
  const std::string launch = " --launch 'saxpy grid 1 block 32 args 32, 2.0, x, x'";
  for (const auto& [more, part] :
       {std::pair("--lane 77", "there is no lane 77: a group has 32 threads"),
        std::pair("--group 5", "there is no group 5: the launch has 1"),
        std::pair("--visit 2", "there is no visit 2: a lane comes by 1 time at most")}) {
    CAPTURE(std::string(more));
    const Output o = explain(asked + launch + " " + more);
    CHECK(o.code == 2);
    CHECK(contains(o.err, part));
    CHECK(o.out.empty());
  }
  const Output unknown = explain(asked + " --launch 'saxpy grid 1 block 32 args 32, 2.0, x, y'");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "(made of --set and --launch)"));
  const Output how = explain(asked);
  CHECK(how.code == 2);
  CHECK(contains(how.err, "--launch"));
}

// Registers that the script sets lie beside the parameters, where no address of the guest leads.
TEST_CASE("loads of parameters by their address say which byte of them") {
  if (!once()) return;
  const Output o =
      explain(LANEWISE_TEST_DATA
              "/kernels/data/gcn/corpus/k01_saxpy.gfx803.hsaco --set 'buffer x f32[64] = iota' "
              "--launch 'saxpy grid 1 block 64 args x, x, 2.0, 64'");
  CAPTURE(o.out + o.err);
  CHECK(contains(o.out, "\n      inside the parameters, byte "));
  CHECK(!contains(o.out, "outside every allocation"));
}

TEST_CASE("what lies beside the parameters is nothing that explain shows") {
  if (!once()) return;
  const std::string file = kScripts + "launch_memory.lw";
  const Output beyond = explain(
      file + " --case 'GCN: a load past the parameters reads 0 and leaves registers alone'");
  CHECK(beyond.code == 0);
  CHECK(contains(beyond.out, "no allocation exists\n      bytes 00 00 00 00: u32\n"));
  CHECK(contains(beyond.out, "s10 = s9 (0x4d) = 0x4d\n"));
  const Output stored = explain(file + " --case 'GCN: parameters cannot be written, arena'");
  CHECK(stored.code == 0);
  CHECK(
      contains(stored.out, "fault write_to_read_only: no allocation exists; the store is dropped"));
}

TEST_CASE("wrong questions get one clear answer") {
  if (!once()) return;
  const std::string file = kScripts + "ptx_ld.lw";
  const auto refused = [](const std::string& arguments, const std::string& part) {
    CAPTURE(arguments);
    const Output o = explain(arguments);
    CHECK(o.code == 2);
    CHECK(o.err.starts_with("lanewise: error: "));
    CHECK(contains(o.err, part));
    CHECK(o.out.empty());
  };
  refused("", "nothing to explain");
  refused(file + " --case nonsense", "has no case 'nonsense'");
  refused(file + ":1", "no case at line 1");
  refused(file + " --lane 32", "there is no lane 32");
  refused(scratch() + "/absent.lw", "cannot read");
  refused(file + " --visit 0", "--visit counts from 1");
  std::string code =
      "isa ptx\ncase \"long\" {\n  block 1024\n  waves 32\n  reg .b32 %a = lane\n  code \"\"\"\n";
  for (int n = 0; n < 65; ++n) code += "    add.u32 %a, %a, 1;\n";
  const std::string all_lanes = write("long.lw", code + "  \"\"\"\n}\n");
  refused(all_lanes, "choose a line or --lane");
  CHECK(explain(all_lanes + " --lane 1000").code == 0);
  refused("--text 'ld.global.u32 %r1, [%rd1]' " + scratch() + "/a.ptx", "--text goes with");
  const Output wrong = explain("--text 'ld.global.u33 %r1, [%rd1]'");
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.err, "error: "));
  const Output state = explain("--text 'NOP' --set 'reg R0 = '");
  CHECK(state.code == 1);
}
