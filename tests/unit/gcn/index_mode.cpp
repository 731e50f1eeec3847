// What is known of the index mode of registers at translation, and what is refused because it is
// not: values are those of one lane on the reference engine.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/guest/launch_block.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

const std::string kArray =
    "v_mov_b32 v8, 80\nv_mov_b32 v9, 81\nv_mov_b32 v10, 82\nv_mov_b32 v11, 83\n";
const std::string kOnRead = "s_set_gpr_idx_on s6, gpr_idx(SRC0)\n",
                  kOnWrite = "s_set_gpr_idx_on s6, gpr_idx(DST)\n", kOff = "s_set_gpr_idx_off\n",
                  kPick = "v_mov_b32 v1, v8\n";

/// A kernel that keeps v1; s6 is its second argument.
gcn::LowerResult indexed_kernel(const std::string& body, const std::string& functions = "") {
  const std::string text =
      ".text\nk:\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_load_dword s6, s[0:1], 0x8\n"
      "s_waitcnt lgkmcnt(0)\n" +
      kArray + body +
      "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nflat_store_dword v[2:3], v1\ns_endpgm\n" + functions +
      ".section .rodata\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
      ".amdhsa_kernarg_size 16\n.amdhsa_group_segment_fixed_size 64\n"
      ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n";
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  return gcn::lower(l);
}

uint32_t picked(const std::string& body, uint32_t index, const std::string& functions = "") {
  gcn::LowerResult r = indexed_kernel(body, functions);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(r.module.kernels.size() == 1);
  test::Bench bench;
  std::vector<uint64_t> places;
  for (ir::Global& g : r.module.globals) places.push_back(bench.put(g.init));
  ir::bind_symbols(r.module.kernels[0], [&](const ir::Symbol&) { return places.at(0); });
  const uint64_t at = bench.put(std::vector<uint32_t>{0xdeadbeef});
  bench.arg(at).arg(index);
  CHECK(bench.run(r.module.kernels[0], 1, 1).fault_count == 0);
  return bench.get<uint32_t>(at, 1)[0];
}

/// Line and message of the first error, and how many there are.
struct Refusal {
  uint32_t line = 0;
  std::string message;
  size_t count = 0;
};
Refusal refusal(const std::string& body, const std::string& functions = "") {
  Refusal out;
  for (const Diagnostic& d : indexed_kernel(body, functions).diagnostics) {
    if (d.warning) continue;
    if (out.count++ == 0) out = {d.line, d.message, 1};
  }
  return out;
}
std::vector<std::string> warnings_of(const std::string& body) {
  std::vector<std::string> out;
  for (const Diagnostic& d : indexed_kernel(body).diagnostics) out.push_back(d.message);
  return out;
}

/// Behind the label, where the mode came from either side.
std::string join(const std::string& taken, const std::string& otherwise) {
  return "s_cmp_eq_u32 s6, 2\ns_cbranch_scc1 .Ltaken\n" + otherwise +
         "s_branch .Ljoin\n.Ltaken:\n" + taken + ".Ljoin:\n";
}
/// The line that `body` begins in.
constexpr uint32_t kFirstLine = 10;
uint32_t lines(const std::string& text) {
  return static_cast<uint32_t>(std::ranges::count(text, '\n'));
}

std::string call(const std::string& function) {
  return fmt::format(
      "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, {0}@rel32@lo+4\ns_addc_u32 s9, s9, {0}@rel32@hi+12\n"
      "s_swappc_b64 s[30:31], s[8:9]\n",
      function);
}
const std::string kFunction = "pick:\n" + kPick + "s_setpc_b64 s[30:31]\n";

bool depends(const Refusal& r) {
  return r.message.find("s_set_gpr_idx_on) is on depends on the path") != std::string::npos;
}

}  // namespace

TEST_CASE("index mode: where ways meet that disagree, vector registers are refused") {
  const std::string before = join(kOnRead, "");
  const Refusal r = refusal(before + kPick + kOff);
  CHECK(depends(r));
  CHECK(r.line == kFirstLine + lines(before));
  CHECK(r.count == 1);
  // What names no vector register, or is no vector instruction, does not ask.
  CHECK(refusal(before + "s_add_u32 s7, s6, s6\nv_nop\n" + kOff).count == 0);
  CHECK(refusal(before + "v_readfirstlane_b32 s7, v8\n" + kOff).count == 1);
  // Neither does a compare when only results are counted.
  CHECK(refusal(join(kOnWrite, "s_mov_b32 m0, 0x8000\n") + "v_cmp_eq_u32 vcc, v8, v9\n" + kOff)
            .count == 0);
  CHECK(picked(before + kOff + kPick, 2) == 80);
  // On or off on all ways is known.
  CHECK(picked(join(kOnRead, kOnRead) + kPick + kOff, 2) == 82);
  CHECK(picked(join(kOnRead, "s_set_gpr_idx_on 3, gpr_idx(SRC0)\n") + kPick + kOff, 1) == 83);
  CHECK(picked(join(kOnRead + kPick + kOff, "") + "v_add_u32 v1, vcc, v8, v8\n", 2) == 160);
  CHECK(picked(join(kOnRead, kOnWrite) + "v_mov_b32 v10, v8\n" + kOff + "v_mov_b32 v1, v10\n", 2) ==
        82);
}

TEST_CASE("index mode: a loop that leaves it on for its next iteration") {
  const std::string body = "s_mov_b32 s7, 0\n.Lagain:\n" + kPick + kOnRead +
                           "s_add_u32 s7, s7, 1\ns_cmp_lt_u32 s7, 2\n"
                           "s_cbranch_scc1 .Lagain\n" +
                           kOff;
  const Refusal r = refusal(body);
  CHECK(depends(r));
  CHECK(r.line == kFirstLine + 2);
}

TEST_CASE("index mode: the MODE register has its bit") {
  const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), ";
  const std::string named = "s_movk_i32 m0, 0x1002\n";
  CHECK(picked(named + set + "1\n" + kPick + kOff, 0) == 82);
  CHECK(picked(kOnRead + set + "0\n" + kPick, 3) == 80);
  CHECK(picked(
            named + "s_movk_i32 s7, 1\ns_setreg_b32 hwreg(HW_REG_MODE, 27, 1), s7\n" + kPick + kOff,
            0) == 82);
  // A field beside it leaves it alone; a wider one may not.
  CHECK(picked(kOnRead + "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n" + kPick + kOff, 1) ==
        81);
  CHECK(
      depends(refusal("s_setreg_b32 hwreg(HW_REG_MODE, 0, 32), s6\nv_readfirstlane_b32 s7, v8\n")));
  CHECK(
      depends(refusal(join(kOnRead, "") + "s_getreg_b32 s7, hwreg(HW_REG_MODE, 26, 3)\n" + kOff)));
  CHECK(refusal(join(kOnRead, "") + "s_getreg_b32 s7, hwreg(HW_REG_MODE, 0, 4)\n" + kOff).count ==
        0);
  // Arithmetic of floats does not mind.
  CHECK(picked("v_cvt_f32_u32 v9, v10\n" + kOnRead + "v_cvt_u32_f32 v1, v8\n" + kOff, 1) == 82);
}

TEST_CASE("index mode: functions are called in it") {
  CHECK(picked(kOnRead + call("pick") + kOff, 3, kFunction) == 83);
  CHECK(picked(kOnRead + call("pick") + "v_mov_b32 v2, v8\n" + kOff + call("pick") +
                   "v_add_u32 v1, vcc, v1, v2\n",
               3, "pick:\n" + kOff + kPick + kOnRead + "s_setpc_b64 s[30:31]\n") != 0);
  // It may turn it on for its caller, or off.
  CHECK(picked(call("enter") + kPick + kOff, 2, "enter:\n" + kOnRead + "s_setpc_b64 s[30:31]\n") ==
        82);
  CHECK(picked(kOnRead + call("leave") + kPick, 2, "leave:\n" + kOff + "s_setpc_b64 s[30:31]\n") ==
        80);
  // Two callers of which one has it on: nobody knows, in the function and behind it.
  const std::string both = call("pick") + kOnRead + call("pick") + kOff;
  const Refusal r = refusal(both, kFunction);
  CHECK(depends(r));
  CHECK(r.line == kFirstLine + lines(both) + 5);
}

TEST_CASE("index mode: what is refused by name") {
  CHECK(refusal(kOnRead + "v_movrels_b32 v1, v8\n" + kOff).message.starts_with("v_movrels_b32 in"));
  CHECK(refusal(kOnWrite + "v_movrels_b32 v1, v8\n" + kOff).count == 1);
  CHECK(refusal("s_set_gpr_idx_on s6, gpr_idx()\nv_movrels_b32 v1, v8\n" + kOff).count == 0);
  const std::string sum = "v_add_u32 v8, vcc, v9, v10\n";
  CHECK(refusal(kOnWrite + sum + kOff + "v_addc_u32 v1, vcc, v8, v8, vcc\n")
            .message.find("beside a mask") != std::string::npos);
  CHECK(picked(kOnWrite + sum + kOff + "v_mov_b32 v1, v11\n", 3) == 163);
}

TEST_CASE("index mode: an index that is known, and registers that are not there") {
  // Then a mask beside the result is no question: past the registers, nothing is written at all.
  const auto with = [](int index) {
    return fmt::format(
        "v_mov_b32 v9, -1\ns_mov_b64 vcc, 0\ns_set_gpr_idx_on {}, gpr_idx(DST)\n"
        "v_add_u32 v8, vcc, v9, v10\n{}v_mov_b32 v2, 7\nv_cndmask_b32 v1, v11, v2, vcc\n",
        index, kOff);
  };
  CHECK(picked(with(3), 0) == 7);
  CHECK(picked(with(64), 0) == 83);
  CHECK(picked("s_set_gpr_idx_on 64, gpr_idx(SRC0)\nv_add_u32 v1, vcc, v8, v9\n" + kOff, 0) == 81);
}

TEST_CASE("index mode: memory instructions take registers as they are named") {
  const std::string all = "s_set_gpr_idx_on s6, gpr_idx(SRC0,SRC1,SRC2,DST)\n";
  const std::string address = "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nv_mov_b32 v5, 0\n";
  const auto through = [&](const std::string& store, const std::string& load) {
    return picked(address + all + store + "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + load +
                      "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + kOff + "v_mov_b32 v1, v10\n",
                  1);
  };
  CHECK(through("flat_store_dword v[2:3], v8\n", "flat_load_dword v10, v[2:3]\n") == 80);
  const std::string lds = "s_mov_b32 m0, 0xf001\n";  // that index again
  CHECK(through(lds + "ds_write_b32 v5, v9\n", "ds_read_b32 v10, v5\n") == 81);
}

// What s_cbranch_execz keeps together: two numbers that have nothing in common need no look at the
// wave; what else reads M0 does.
TEST_CASE("index mode: a number of its own in a block that may be skipped") {
  const auto looks = [](const std::string& behind) {
    const gcn::LowerResult r = indexed_kernel(
        "v_cmp_lt_u32 vcc, 3, v0\ns_and_saveexec_b64 s[8:9], vcc\ns_cbranch_execz .Lover\n"
        "s_set_gpr_idx_on 1, gpr_idx(SRC0)\nv_mov_b32 v4, v8\n" +
        kOff + "s_nop 0\n.Lover:\ns_mov_b64 exec, s[8:9]\n" + kOnRead + kPick + kOff + behind);
    REQUIRE(r.module.kernels.size() == 1);
    size_t ballots = 0;
    for (const ir::Block& b : r.module.kernels[0].blocks)
      ballots += static_cast<size_t>(std::ranges::count(b.insts, ir::Op::ballot, &ir::Inst::op));
    return ballots != 0;
  };
  CHECK_FALSE(looks(""));
  CHECK(looks("s_mov_b32 s7, m0\n"));
}

// Nobody runs what s_cbranch_execz skips, as M0 behind it is what it was.
TEST_CASE("index mode: M0 is read by every vector instruction in it") {
  const auto skipped = [](const std::string& inside) {
    return picked(
        "s_set_gpr_idx_on s6, gpr_idx(SRC0)\ns_mov_b64 s[8:9], exec\n"
        "s_mov_b64 exec, 0\ns_cbranch_execz .Lover\n" +
            inside + ".Lover:\ns_mov_b64 exec, s[8:9]\n" + kPick + kOff,
        1);
  };
  CHECK(skipped("s_set_gpr_idx_idx 2\n") == 81);
  CHECK(skipped("s_set_gpr_idx_mode gpr_idx(SRC1)\n") == 81);
}

TEST_CASE("index mode: loads that a counted register waits for") {
  const std::string load = "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nflat_load_dword v9, v[2:3]\n",
                    wait = "s_waitcnt vmcnt(0)\nv_mov_b32 v4, v9\n";
  const auto read = [](const char* index) {
    return fmt::format("s_set_gpr_idx_on {}, gpr_idx(SRC0)\n{}{}", index, kPick, kOff);
  };
  CHECK(warnings_of(load + read("1") + wait).size() == 1);
  CHECK(warnings_of(load + read("2") + wait).empty());
  CHECK(warnings_of(load + read("s6") + wait).empty());
}

TEST_CASE("index mode: coverage knows the four") {
  for (const char* name :
       {"s_set_gpr_idx_on", "s_set_gpr_idx_off", "s_set_gpr_idx_mode", "s_set_gpr_idx_idx"}) {
    CHECK(gcn::coverage_of(name, gcn::Gen::gfx8).state == gcn::FormState::exact);
    CHECK(gcn::coverage_of(name, gcn::Gen::gfx7).state == gcn::FormState::unsupported);
  }
}
