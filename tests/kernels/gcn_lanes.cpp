// DPP and SDWA of GCN3: every choice of lanes and parts in one kernel; EXEC and the number of lanes
// are data.
#include <cstdlib>
#include <functional>
#include <span>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

constexpr int kNobody = -1;

struct DppCase {
  const char* control;
  std::function<int(int)> from;  ///< lane read, or nobody
};

int in_row(int lane, int other) {
  return other >= 0 && lane / 16 == other / 16 ? other : kNobody;
}

/// What each control means, lane by lane.
const std::vector<DppCase>& dpp_cases() {
  static const std::vector<DppCase> cases = {
      {"quad_perm:[3,0,0,2]",
       [](int n) {
         static constexpr int kPerm[] = {3, 0, 0, 2};
         return n / 4 * 4 + kPerm[n % 4];
       }},
      {"row_shl:1", [](int n) { return in_row(n, n + 1); }},
      {"row_shl:15", [](int n) { return in_row(n, n + 15); }},
      {"row_shr:1", [](int n) { return in_row(n, n - 1); }},
      {"row_shr:6", [](int n) { return in_row(n, n - 6); }},
      {"row_ror:5", [](int n) { return n / 16 * 16 + (n % 16 + 11) % 16; }},
      {"wave_shl:1", [](int n) { return n < 63 ? n + 1 : kNobody; }},
      {"wave_rol:1", [](int n) { return (n + 1) % 64; }},
      {"wave_shr:1", [](int n) { return n - 1; }},
      {"wave_ror:1", [](int n) { return (n + 63) % 64; }},
      {"row_mirror", [](int n) { return n / 16 * 16 + 15 - n % 16; }},
      {"row_half_mirror", [](int n) { return n / 8 * 8 + 7 - n % 8; }},
      {"row_bcast:15", [](int n) { return n / 16 * 16 - 1; }},
      {"row_bcast:31", [](int n) { return n > 31 ? 31 : kNobody; }}};
  return cases;
}

struct Masks {
  const char* text;
  unsigned row, bank;
  bool zero;  ///< bound_ctrl
};
constexpr Masks kMasks[] = {{"", 15, 15, false},
                            {" bound_ctrl:0", 15, 15, true},
                            {" row_mask:0xa bank_mask:0x7", 10, 7, false}};

uint32_t source(int lane) {
  return 0x01f380c5U * static_cast<uint32_t>(lane + 3);
}
uint32_t before(int lane) {
  return 0xdead0000U + static_cast<uint32_t>(lane);
}

uint32_t after_dpp(const DppCase& c, const Masks& m, uint64_t exec, int lane) {
  const bool on = (exec >> lane & 1) != 0;
  const bool unmasked = (m.row >> (lane / 16) & m.bank >> (lane / 4 % 4) & 1) != 0;
  const int from = c.from(lane);
  const bool valid = from >= 0 && (exec >> from & 1) != 0;
  if (!on || !unmasked || (!valid && !m.zero)) return before(lane);
  return valid ? source(from) : 0;
}

struct SdwaCase {
  const char* text;  ///< v2 is the result, v1 the source, v3 the lane number
  std::function<uint32_t(uint32_t was, uint32_t s, uint32_t lane)> value;
};
const std::vector<SdwaCase>& sdwa_cases() {
  static const std::vector<SdwaCase> cases = {
      {"v_mov_b32_sdwa v2, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0",
       [](uint32_t, uint32_t s, uint32_t) {
         return static_cast<uint32_t>(static_cast<int8_t>(s & 0xff));
       }},
      {"v_or_b32_sdwa v2, v3, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD "
       "src1_sel:BYTE_2",
       [](uint32_t was, uint32_t s, uint32_t lane) {
         return (was & 0xffff) | (lane | (s >> 16 & 0xff)) << 16;
       }},
      {"v_add_u32_sdwa v2, vcc, v1, v3 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:WORD_1 "
       "src1_sel:DWORD",
       [](uint32_t, uint32_t s, uint32_t lane) {
         const uint32_t sum = (s >> 16) + lane;
         return static_cast<uint32_t>(static_cast<int8_t>(sum & 0xff)) << 8;
       }},
      {"v_lshlrev_b32_sdwa v2, v3, v1 dst_sel:BYTE_3 dst_unused:UNUSED_PAD src0_sel:BYTE_0 "
       "src1_sel:WORD_0",
       [](uint32_t, uint32_t s, uint32_t lane) { return ((s & 0xffff) << (lane & 31)) << 24; }},
      {"v_cmp_lt_i32_sdwa vcc, sext(v1), v3 src0_sel:BYTE_1 src1_sel:DWORD\n"
       "v_cndmask_b32 v2, v1, v3, vcc",
       [](uint32_t, uint32_t s, uint32_t lane) {
         const auto low = static_cast<int8_t>(s >> 8 & 0xff);
         return low < static_cast<int>(lane) ? lane : s;
       }}};
  return cases;
}

struct Case {
  std::string text;
  std::function<uint32_t(uint64_t exec, int lane)> value;
};

std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const DppCase& c : dpp_cases())
    for (const Masks& m : kMasks)
      out.push_back({std::string("v_mov_b32_dpp v2, v1 ") + c.control + m.text,
                     [&](uint64_t exec, int lane) { return after_dpp(c, m, exec, lane); }});
  for (const SdwaCase& c : sdwa_cases())
    out.push_back({c.text, [&](uint64_t exec, int lane) {
                     const bool on = (exec >> lane & 1) != 0;
                     return on ? c.value(before(lane), source(lane), static_cast<uint32_t>(lane))
                               : before(lane);
                   }});
  return out;
}

/// Arguments: the output, EXEC. Each case stores one dword a lane, lanes that EXEC has off too.
std::string kernel_text(std::span<const Case> cases) {
  std::string text =
      "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s4, s8\n"
      "s_mov_b32 s5, s9\ns_mov_b32 s6, -1\ns_mov_b32 s7, 0xf000\nv_mov_b32 v3, v0\n"
      "v_add_u32 v1, vcc, 3, v0\nv_mov_b32 v4, 0x01f380c5\nv_mul_lo_u32 v1, v1, v4\n"
      "v_lshlrev_b32 v5, 2, v0\ns_mov_b64 s[12:13], exec\n";
  unsigned slot = 0;
  for (const Case& c : cases)
    text += "v_or_b32 v2, 0xdead0000, v0\ns_mov_b64 exec, s[10:11]\n" + c.text +
            "\ns_mov_b64 exec, s[12:13]\ns_movk_i32 s14, " + std::to_string(256 * slot++) +
            "\nbuffer_store_dword v2, v5, s[4:7], s14 offen\n";
  return text + "s_endpgm\n";
}

std::vector<uint32_t> expected(std::span<const Case> cases, uint64_t exec, int lanes) {
  std::vector<uint32_t> out;
  if (lanes < 64) exec &= (uint64_t{1} << lanes) - 1;
  for (const Case& c : cases)
    for (int lane = 0; lane < 64; ++lane) out.push_back(lane < lanes ? c.value(exec, lane) : 0);
  return out;
}

void check_cases(std::span<const Case> cases) {
  const lanewise::Kernel kernel =
      device().load_text(kernel_text(cases), lanewise::Isa::gcn, "lanes", "gfx803").kernel("");
  const struct {
    uint64_t exec;
    uint32_t lanes;
  } situations[] = {{~uint64_t{0}, 64}, {0xf0f13579ace0ff3c, 64}, {0xffffff7fffffffff, 40}};
  for (const auto& s : situations) {
    CAPTURE(s.exec);
    CAPTURE(s.lanes);
    const auto want = expected(cases, s.exec, static_cast<int>(s.lanes));
    auto out = device().buffer(std::vector<uint32_t>(want.size()), "out");
    kernel.launch({.grid = {1}, .block = {s.lanes}}, out, s.exec).check();
    check_equal(out.read<uint32_t>(), want);
  }
}

}  // namespace

// Few operations to a kernel: where one invocation carries the wave, drivers take the longer the
// more there are, and more than in proportion.
TEST_CASE("gcn lanes: DPP and SDWA in full and partial waves under several EXEC masks") {
  constexpr size_t kInKernel = 6;
  const std::vector<Case> cases = all_cases();
  for (size_t first = 0; first < cases.size(); first += kInKernel) {
    CAPTURE(cases[first].text);
    check_cases(std::span(cases).subspan(first, std::min(kInKernel, cases.size() - first)));
  }
}

// A group of 30 in three dimensions: v10's lanes 50 and 63 belong to nobody, and keep what is
// written to them, as compilers expect that keep scalar registers there.
TEST_CASE("gcn lanes: registers of lanes that the last wave does not have") {
  const char* text = R"(
.amdgcn_target "amdgcn--amdhsa--gfx700"
spills:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_movk_i32 s8, 0x4d
  s_movk_i32 s9, 0x100
  v_writelane_b32 v10, s8, 50
  v_writelane_b32 v10, s9, 63
  s_mov_b64 s[8:9], 0
  v_readlane_b32 s10, v10, 50
  v_readlane_b32 s11, v10, 63
  s_or_b32 s10, s10, s11
  v_mul_u32_u24 v3, 5, v1
  v_add_i32 v3, vcc, v0, v3
  v_mul_u32_u24 v4, 15, v2
  v_add_i32 v3, vcc, v3, v4
  v_lshlrev_b32 v3, 2, v3
  v_lshlrev_b32 v4, 4, v1
  v_or_b32 v5, v0, v4
  v_lshlrev_b32 v4, 8, v2
  v_or_b32 v5, v5, v4
  v_mov_b32 v6, s10
  v_lshlrev_b32 v6, 16, v6
  v_or_b32 v5, v5, v6
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s6, -1
  s_mov_b32 s7, 0xf000
  buffer_store_dword v5, v3, s[4:7], 0 offen
  s_endpgm
.amdhsa_kernel spills
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 8
  .amdhsa_system_vgpr_workitem_id 2
.amdhsa_next_free_vgpr 1
.amdhsa_next_free_sgpr 1
.end_amdhsa_kernel
)";
  const lanewise::Kernel kernel =
      device().load_text(text, lanewise::Isa::gcn, "spills").kernel("spills");
  std::vector<uint32_t> want(64);
  for (uint32_t z = 0; z < 2; ++z)
    for (uint32_t y = 0; y < 3; ++y)
      for (uint32_t x = 0; x < 5; ++x) want[x + 5 * y + 15 * z] = x | y << 4 | z << 8 | 0x14d0000;
  auto out = device().buffer(std::vector<uint32_t>(64), "out");
  kernel.launch({.grid = {1}, .block = {5, 3, 2}}, out).check();
  check_equal(out.read<uint32_t>(), want);
}

// As compilers write it that do not optimise: a call in a condition in a loop. Each lane leaves the
// loop by itself, and the function's stack is where it was.
TEST_CASE("gcn lanes: a loop with calls is left one by one, without waves") {
  std::string text = ".amdgcn_target \"amdgcn--amdhsa--gfx700\"\ncalls:\n";
  for (int n = 0; n < 200; ++n) text += "  s_nop 0\n";  // small kernels keep their waves
  text += R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s32, 64
  v_mul_u32_u24 v1, 7, v0
  v_and_b32 v1, 63, v1
  v_mov_b32 v2, 0
  s_mov_b64 s[8:9], 0
again:
  v_and_b32 v3, 1, v1
  v_cmp_eq_u32 vcc, 1, v3
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz even
  s_getpc_b64 s[12:13]
  s_add_u32 s12, s12, add@rel32@lo+4
  s_addc_u32 s13, s13, add@rel32@hi+12
  s_swappc_b64 s[30:31], s[12:13]
even:
  s_or_b64 exec, exec, s[10:11]
  v_subrev_i32 v1, vcc, 5, v1
  v_cmp_gt_i32 vcc, 5, v1
  s_or_b64 s[8:9], vcc, s[8:9]
  s_andn2_b64 exec, exec, s[8:9]
  s_cbranch_execnz again
  s_or_b64 exec, exec, s[8:9]
  v_add_i32 v2, vcc, s32, v2
  v_lshlrev_b32 v3, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s6, -1
  s_mov_b32 s7, 0xf000
  buffer_store_dword v2, v3, s[4:7], 0 offen
  s_endpgm
add:
  s_addk_i32 s32, 0x10
  v_mul_u32_u24 v4, 3, v1
  v_add_i32 v4, vcc, s32, v4
  v_add_i32 v2, vcc, v2, v4
  s_addk_i32 s32, 0xfff0
  s_setpc_b64 s[30:31]
.section .rodata
.amdhsa_kernel calls
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 8
.amdhsa_next_free_vgpr 5
.amdhsa_next_free_sgpr 33
.end_amdhsa_kernel
)";
  std::vector<uint32_t> want(64, 64);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    int v = static_cast<int>(7 * lane & 63);
    do {
      if ((v & 1) != 0) want[lane] += 80 + 3 * static_cast<uint32_t>(v);
      v -= 5;
    } while (v >= 5);
  }
  auto out = device().buffer(std::vector<uint32_t>(64), "out");
  const auto result = device()
                          .load_text(text, lanewise::Isa::gcn, "calls")
                          .kernel("calls")
                          .launch({.grid = {1}, .block = {64}}, out);
  result.check();
  CHECK(result.wave_mode != "packed");  // serial where the test asks for it
  check_equal(out.read<uint32_t>(), want);
}

// As compilers write a search for a place: the inner loop counts in a scalar register, and what the
// last lane leaves in another one reaches no lane.
// `before` stands in front of the outer loop's iterations, `back` asks for the next one.
void check_search(const std::string& before, const std::string& back) {
  std::string text = ".amdgcn_target \"amdgcn--amdhsa--gfx700\"\nsearch:\n";
  for (int n = 0; n < 200; ++n) text += "  s_nop 0\n";  // small kernels keep their waves
  text += R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v1, 15, v0
  v_mov_b32 v2, 0
  s_mov_b32 s16, 8
outer:
)" + before +
          R"(
  s_mov_b32 s18, s16
  s_mov_b64 s[8:9], 0
  s_branch test
latch:
  s_or_b64 exec, exec, s[14:15]
  s_and_b64 s[14:15], exec, s[12:13]
  s_or_b64 s[8:9], s[14:15], s[8:9]
  v_mov_b32 v5, s18
  s_mov_b32 s18, s19
  s_andn2_b64 exec, exec, s[8:9]
  s_cbranch_execz done
test:
  s_or_b64 s[12:13], s[12:13], exec
  v_cmp_gt_u32 vcc, s18, v1
  s_and_saveexec_b64 s[14:15], vcc
  s_cbranch_execz latch
  s_add_i32 s19, s18, -1
  s_cmp_lt_i32 s19, 2
  s_cselect_b64 s[20:21], -1, 0
  s_andn2_b64 s[12:13], s[12:13], exec
  s_and_b64 s[20:21], s[20:21], exec
  s_or_b64 s[12:13], s[12:13], s[20:21]
  s_branch latch
done:
  s_or_b64 exec, exec, s[8:9]
  v_mad_u32_u24 v2, v2, 3, v5
  s_add_i32 s16, s16, 3
  s_cmp_lg_i32 s16, 20
)" + back +
          R"(
  s_cbranch_execnz out
  s_branch outer
out:
  v_lshlrev_b32 v3, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s6, -1
  s_mov_b32 s7, 0xf000
  buffer_store_dword v2, v3, s[4:7], 0 offen
  s_endpgm
.section .rodata
.amdhsa_kernel search
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 8
.amdhsa_next_free_vgpr 6
.amdhsa_next_free_sgpr 33
.end_amdhsa_kernel
)";
  std::vector<uint32_t> want(64);
  for (uint32_t lane = 0; lane < 64; ++lane)
    for (uint32_t start = 8; start < 20; start += 3) {
      uint32_t count = start;
      while (count > (lane & 15) && count > 2) --count;
      want[lane] = 3 * want[lane] + count;
    }
  auto out = device().buffer(std::vector<uint32_t>(64), "out");
  const auto result = device()
                          .load_text(text, lanewise::Isa::gcn, "search")
                          .kernel("search")
                          .launch({.grid = {1}, .block = {64}}, out);
  result.check();
  CHECK(result.wave_mode == (std::getenv("LANEWISE_WAVE") == nullptr ? "lane" : "serial"));
  check_equal(out.read<uint32_t>(), want);
}

TEST_CASE("gcn lanes: a search whose count is a scalar register is left lane by lane") {
  check_search("", "  s_cbranch_scc1 outer\n");
}

// The mask that the inner loop collects begins as half of a number and half of another mask.
TEST_CASE("gcn lanes: a mask without a value before its loop keeps no wave together") {
  check_search(R"(
  v_cmp_lt_u32 s[12:13], 40, v0
  s_lshl_b32 s12, s16, 1
  v_mov_b32 v4, s12)",
               "  s_cbranch_scc1 outer\n");
}

// A condition of scalar registers that compilers ask VCC for.
TEST_CASE("gcn lanes: a condition of the whole wave in VCC keeps no wave together") {
  check_search("", R"(
  s_cselect_b64 s[22:23], -1, 0
  s_andn2_b64 vcc, exec, s[22:23]
  s_cbranch_vccz outer)");
}
