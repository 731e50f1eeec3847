// What GCN kernels become: well-formed programs, masks as predicates, explicit errors.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

namespace {

gcn::LowerResult lower(std::string_view text, bool by_lane = false) {
  const gcn::Listing listing = gcn::parse(text);
  for (const Diagnostic& d : listing.diagnostics) MESSAGE(d.line, ":", d.column, ": ", d.message);
  REQUIRE(listing.ok());
  gcn::LowerOptions options;
  options.by_lane = by_lane;
  return gcn::lower(listing, options);
}

void check_verified(const ir::Program& p) {
  for (const std::string& defect : ir::verify(p)) FAIL_CHECK(defect);
}

size_t wave_operations(const ir::Program& p) {
  size_t n = 0;
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts) n += ir::info(i.op).trait == ir::OpTrait::wave;
  return n;
}

}  // namespace

TEST_CASE("compiled kernels lower to well-formed programs without cross-lane operations") {
  for (const char* name : {"k01_saxpy", "k11_vec4"}) {
    std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/gcn/" + name + ".gfx600.s");
    REQUIRE(file.good());
    std::stringstream text;
    text << file.rdbuf();
    const gcn::LowerResult r = lower(text.str());
    for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
    REQUIRE(!r.module.kernels.empty());
    for (const ir::Program& p : r.module.kernels) {
      check_verified(p);
      CHECK(p.wave_lanes == 64);
      CHECK(wave_operations(p) == 0);
    }
  }
}

TEST_CASE("a mask read as a number is made by a ballot") {
  const auto r =
      lower("v_cmp_gt_u32 vcc, 7, v0\ns_add_i32 s4, s4, vcc_lo\nv_mov_b32 v1, s4\ns_endpgm\n");
  REQUIRE(r.diagnostics.empty());
  check_verified(r.module.kernels[0]);
  CHECK(wave_operations(r.module.kernels[0]) == 1);
}

TEST_CASE("a mask is no number where it goes to a register that no lane reads") {
  const std::string move = "v_cmp_gt_u32 vcc, 7, v0\nv_mov_b32 v5, vcc_lo\ns_branch .Lon\n.Lon:\n";
  const std::string read = "buffer_store_dword v5, off, s[4:7], 0\n", write = "v_mov_b32 v5, 1\n";
  const auto operations = [&](const std::string& body) {
    const auto r = lower(".text\nk:\n" + move + body +
                         "s_endpgm\n.section .rodata\n.amdhsa_kernel k\n"
                         ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n"
                         ".end_amdhsa_kernel\n");
    REQUIRE(r.module.kernels.size() == 1);
    check_verified(r.module.kernels[0]);
    return wave_operations(r.module.kernels[0]);
  };
  CHECK(operations("") == 0);
  CHECK(operations(write + read) == 0);
  CHECK(operations("v_lshl_b64 v[5:6], v[2:3], 1\n" + read) == 0);
  CHECK(operations("buffer_load_dword v5, off, s[4:7], 0\n" + read) == 0);
  CHECK(operations(read) == 1);
  CHECK(operations("v_mac_f32 v5, v1, v2\n" + read) == 1);
  // Fewer lanes write it than may read it.
  const std::string fewer = "s_mov_b64 s[8:9], exec\ns_mov_b64 exec, 3\n" + write;
  CHECK(operations(fewer + read) == 0);
  CHECK(operations(fewer + "s_mov_b64 exec, s[8:9]\n" + read) == 1);
  CHECK(operations(fewer + "v_readlane_b32 s10, v5, 9\n") == 2);
  // One of two paths reads it.
  CHECK(operations("s_cmp_eq_u32 s10, 0\ns_cbranch_scc1 .Lread\n" + write + ".Lread:\n" + read) ==
        1);
}

TEST_CASE("execz is a real branch where scalar state depends on it") {
  const char* region =
      "v_cmp_gt_u32 vcc, 7, v0\ns_and_saveexec_b64 s[6:7], vcc\ns_cbranch_execz .L1\n"
      "s_mov_b32 s5, 1\n.L1:\ns_or_b64 exec, exec, s[6:7]\n";
  const auto dead = lower(std::string(region) + "s_endpgm\n");
  CHECK(wave_operations(dead.module.kernels[0]) == 0);
  const auto live = lower(std::string(region) + "v_mov_b32 v1, s5\ns_endpgm\n");
  CHECK(wave_operations(live.module.kernels[0]) == 1);
  check_verified(live.module.kernels[0]);
}

/// A loop that lanes leave one by one, with a condition in it; `inside` stands in the condition.
std::string leaving_loop(const std::string& inside, const std::string& behind) {
  return "s_mov_b64 s[8:9], 0\ns_mov_b32 s5, 0\n.Lloop:\nv_add_i32 v1, vcc, v1, v0\n"
         "v_cmp_gt_u32 vcc, 9, v1\ns_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execz .Lskip\n"
         "v_mov_b32 v2, v1\n" +
         inside +
         ".Lskip:\ns_or_b64 exec, exec, s[10:11]\nv_cmp_lt_u32 vcc, 40, v1\n"
         "s_or_b64 s[8:9], vcc, s[8:9]\ns_andn2_b64 exec, exec, s[8:9]\ns_cbranch_execnz .Lloop\n"
         "s_or_b64 exec, exec, s[8:9]\n" +
         behind + "v_mov_b32 v3, v2\ns_endpgm\n";
}

TEST_CASE("lanes leave loops one by one where only masks know") {
  const auto operations = [](const std::string& inside, const std::string& behind) {
    const auto r = lower(leaving_loop(inside, behind), true);
    REQUIRE(r.diagnostics.empty());
    check_verified(r.module.kernels[0]);
    return wave_operations(r.module.kernels[0]);
  };
  CHECK(operations("", "") == 0);
  // A break from within: the lane's bit goes to the mask of those that have left.
  CHECK(operations("s_or_b64 s[8:9], s[8:9], exec\n", "") == 0);
  // Who counts iterations counts those of the whole wave; a number of a mask has all lanes' bits.
  CHECK(operations("", "v_mov_b32 v4, s5\n") == 0);
  CHECK(operations("s_add_u32 s5, s5, 1\n", "v_mov_b32 v4, s5\n") != 0);
  CHECK(operations("", "v_mov_b32 v4, s8\n") != 0);
  // What inactive lanes are turned on for, and what looks at other lanes.
  CHECK(operations("s_or_saveexec_b64 s[12:13], -1\nv_mov_b32 v4, 1\ns_mov_b64 exec, s[12:13]\n",
                   "") != 0);
  CHECK(operations("v_readfirstlane_b32 s12, v1\nv_mov_b32 v4, s12\n", "") != 0);
  // A mask that another one than the lane's own way changes: inverted, it has the lane's bit on.
  CHECK(operations("s_xor_b64 s[14:15], exec, -1\n", "v_cndmask_b32 v4, 0, 1, s[14:15]\n") != 0);
}

namespace {

/// What a compiler makes of a search in a search: the inner loop counts down in s18, and a lane
/// that ends it leaves s19 to what the others make of it. `behind` stands behind the inner loop.
size_t operations_of_search(const std::string& behind, const std::string& stay = "s_branch .Lon") {
  const std::string latch =
      ".Llatch:\ns_or_b64 exec, exec, s[14:15]\ns_and_b64 s[14:15], exec, s[12:13]\n"
      "s_or_b64 s[8:9], s[14:15], s[8:9]\nv_mov_b32 v5, s18\ns_mov_b32 s18, s19\n"
      "s_andn2_b64 exec, exec, s[8:9]\ns_cbranch_execz .Ldone\n";
  const std::string test =
      ".Ltest:\ns_or_b64 s[12:13], s[12:13], exec\nv_cmp_gt_u32 vcc, s18, v1\n"
      "s_and_saveexec_b64 s[14:15], vcc\ns_cbranch_execz .Llatch\ns_add_i32 s19, s18, -1\n"
      "s_andn2_b64 s[12:13], s[12:13], exec\ns_branch .Llatch\n";
  const auto r = lower(
      "s_mov_b32 s16, 8\n.Louter:\ns_mov_b32 s18, s16\ns_mov_b64 s[8:9], 0\n"
      "s_branch .Ltest\n" +
          latch + test + ".Ldone:\ns_or_b64 exec, exec, s[8:9]\n" + behind +
          "v_mad_u32_u24 v2, v2, 3, v5\ns_add_i32 s16, s16, 3\n"
          "s_cmp_lg_i32 s16, 20\ns_cbranch_scc1 .Louter\n" +
          stay + "\ns_branch .Louter\n.Lon:\nv_mov_b32 v3, v2\ns_endpgm\n",
      true);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(r.module.kernels.size() == 1);
  check_verified(r.module.kernels[0]);
  return wave_operations(r.module.kernels[0]);
}

}  // namespace

TEST_CASE("lanes part where what they lack reaches nothing that they do") {
  CHECK(operations_of_search("") == 0);
  CHECK(operations_of_search("s_mov_b32 s20, s19\n") == 0);
  CHECK(operations_of_search("s_mov_b32 s20, s19\ns_mov_b32 s20, 0\nv_mov_b32 v6, s20\n") == 0);
  // A lane that is off reads it, as long as it is off.
  CHECK(operations_of_search("s_mov_b64 s[22:23], exec\ns_mov_b64 exec, 0\nv_mov_b32 v6, s19\n"
                             "s_mov_b64 exec, s[22:23]\n") == 0);
  // It is read itself, through other registers, by a decision, a mask, an address.
  CHECK(operations_of_search("v_mov_b32 v6, s19\n") != 0);
  CHECK(operations_of_search("s_add_i32 s20, s19, 1\nv_mov_b32 v6, s20\n") != 0);
  CHECK(operations_of_search("s_cmp_eq_u32 s19, 3\ns_cbranch_scc1 .Lon\n") != 0);
  CHECK(operations_of_search("s_cmp_eq_u32 s19, 3\ns_cselect_b32 s20, 1, 0\nv_mov_b32 v6, s20\n") !=
        0);
  CHECK(operations_of_search("s_mov_b32 s18, 0\ns_and_b64 exec, exec, s[18:19]\n") != 0);
  CHECK(operations_of_search("s_load_dword s20, s[18:19], 0x0\n") != 0);
  CHECK(operations_of_search("s_mov_b32 m0, s19\nv_movrels_b32 v6, v5\n") != 0);
}

TEST_CASE("a block that writes EXEC many times is followed in proportion to it") {
  std::string behind = "s_mov_b64 s[22:23], exec\n";
  for (int n = 0; n < 60; ++n)
    behind +=
        "v_cmp_eq_u32 vcc, v1, v2\ns_and_b64 exec, s[22:23], vcc\nv_add_i32 v3, vcc, v3, v1\n"
        "s_mov_b64 exec, s[22:23]\n";
  CHECK(operations_of_search(behind) == 0);
}

TEST_CASE("where every lane is on, EXEC is not zero") {
  CHECK(operations_of_search("", "s_cbranch_execnz .Lon") == 0);
  CHECK(operations_of_search("",
                             "v_cmp_eq_u32 vcc, v1, v2\ns_mov_b64 s[22:23], exec\n"
                             "s_and_b64 exec, exec, vcc\ns_cbranch_execnz .Lon\n"
                             "s_mov_b64 exec, s[22:23]\nv_mov_b32 v2, s16") != 0);
}

namespace {

/// A loop that lanes leave one by one, with a call in a condition; the stack pointer s32 and
/// `behind` are wanted in the end.
size_t operations_around_call(const std::string& callee, const std::string& behind = "") {
  const std::string call =
      "s_getpc_b64 s[12:13]\ns_add_u32 s12, s12, callee@rel32@lo+4\n"
      "s_addc_u32 s13, s13, callee@rel32@hi+12\ns_swappc_b64 s[30:31], s[12:13]\n";
  const gcn::Listing l =
      gcn::parse(".text\nk:\ns_mov_b32 s32, 64\n" +
                 leaving_loop(call, "v_mov_b32 v5, s32\n" + behind) + "callee:\n" + callee +
                 "inner:\nv_mov_b32 v6, v1\ns_setpc_b64 s[30:31]\n"
                 ".section .rodata\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 1\n"
                 ".amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n");
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  gcn::LowerOptions options;
  options.by_lane = true;
  const auto r = gcn::lower(l, options);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(r.module.kernels.size() == 1);
  check_verified(r.module.kernels[0]);
  return wave_operations(r.module.kernels[0]);
}

}  // namespace

TEST_CASE("lanes leave loops with calls in them one by one where the functions come back") {
  const std::string back = "s_setpc_b64 s[30:31]\n", add = "v_add_i32 v1, vcc, v1, v0\n";
  const std::string push = "s_add_i32 s32, s32, 0x400\n", pop = "s_sub_i32 s32, s32, 0x400\n";
  CHECK(operations_around_call(add + back) == 0);
  CHECK(operations_around_call(push + add + pop + back) == 0);
  CHECK(operations_around_call(push + add + "s_addk_i32 s32, 0xfc00\n" + back) == 0);
  const std::string nested =
      "s_mov_b64 s[20:21], s[30:31]\ns_getpc_b64 s[12:13]\ns_add_u32 s12, s12, inner@rel32@lo+4\n"
      "s_addc_u32 s13, s13, inner@rel32@hi+12\ns_swappc_b64 s[30:31], s[12:13]\n";
  CHECK(operations_around_call(nested + "s_mov_b32 s30, s20\ns_mov_b32 s31, s21\n" + back) == 0);
  CHECK(operations_around_call(nested + "s_setpc_b64 s[20:21]\n") == 0);
  // The stack does not shrink again, on one path or on both; another number that is wanted.
  CHECK(operations_around_call(push + back) != 0);
  CHECK(operations_around_call("s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 .Lon\n" + push + ".Lon:\n" +
                               back) != 0);
  CHECK(operations_around_call(push + "s_sub_i32 s32, s32, s4\n" + back) != 0);
  CHECK(operations_around_call("s_mov_b32 s6, 7\n" + back, "v_mov_b32 v7, s6\n") != 0);
  // It returns to somewhere else, or may; all lanes are on in it; it waits for the group.
  CHECK(operations_around_call("s_add_u32 s30, s30, 4\ns_addc_u32 s31, s31, 0\n" + back) != 0);
  CHECK(operations_around_call("s_or_saveexec_b64 s[14:15], -1\n" + add +
                               "s_mov_b64 exec, s[14:15]\n" + back) != 0);
  CHECK(operations_around_call("s_barrier\n" + back) != 0);
}

TEST_CASE("what cannot run is an error at its place") {
  const auto r = lower(
      "  buffer_atomic_add v0, off, s[4:7], 0 tfe\n  buffer_store_dword v0, off, s[4:7], 0 tfe\n"
      "  v_cvt_i32_f32_e64 v0, v1 mul:2\n  s_endpgm\n");
  REQUIRE(r.diagnostics.size() == 3);
  for (uint32_t n = 0; n < 3; ++n) CHECK(r.diagnostics[n].line == n + 1);
}

TEST_CASE("float modes and operands whose meaning is not built are errors, not other values") {
  const auto refused = [](const std::string& code, const std::string& directives, gcn::Gen gen,
                          const char* why) {
    const gcn::Listing listing =
        gcn::parse(".text\nk:\n" + code + "\ns_endpgm\n.amdhsa_kernel k\n" + directives +
                       ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n",
                   gen);
    REQUIRE(listing.ok());
    const gcn::LowerResult r = gcn::lower(listing);
    REQUIRE(r.diagnostics.size() == (why[0] == 0 ? 0 : 1));
    if (why[0] != 0) CHECK(r.diagnostics[0].message.find(why) != std::string::npos);
  };
  const std::string add = "v_add_f32 v0, v1, v2", clamp = "v_max_f32_e64 v0, v1, v1 clamp";
  for (const char* mode : {"1", "2"})
    refused(add, std::string(".amdhsa_float_denorm_mode_32 ") + mode + "\n", gcn::Gen::gfx6, "");
  refused(add, ".amdhsa_float_denorm_mode_32 3\n", gcn::Gen::gfx6, "");
  refused(clamp, ".amdhsa_dx10_clamp 0\n", gcn::Gen::gfx6, "keeps NaN");
  refused(clamp, "", gcn::Gen::gfx6, "");
  refused("v_cvt_f32_f64 v0, v[2:3]", ".amdhsa_float_round_mode_32 1\n", gcn::Gen::gfx6,
          "two different rounding modes");
  const std::string mad = "v_mad_i64_i32 v[0:1], vcc, v2, v3, v[4:5]";
  refused(mad, "", gcn::Gen::gfx7, "");
  refused(mad + "\ns_mov_b64 vcc, 0", "", gcn::Gen::gfx7, "");
  refused(mad + "\nv_mov_b32 v6, vcc_lo", "", gcn::Gen::gfx7, "");
}
