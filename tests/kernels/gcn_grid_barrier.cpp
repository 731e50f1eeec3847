// ds_gws_barrier in cooperative launches: waves of one group on every device, and of several groups
// where these run side by side.
#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

constexpr uint32_t kWaves = 3, kRounds = 4;

/// Each round stores a word for each wave, waits, and loads that of the next wave: what a wave ends
/// with has been through as many others. Waves of some lanes come by those; a wave without lanes
/// does not come, and does not wait.
const char* const kText = R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
k:
  s_mov_b64 s[4:5], s[0:1]
  s_mov_b32 s6, s2
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  s_load_dword s2, s[4:5], 0x8
  s_load_dword s3, s[4:5], 0xc
  s_waitcnt lgkmcnt(0)
  v_lshrrev_b32 v1, 6, v0
  v_readfirstlane_b32 s7, v1
  s_mul_i32 s8, s6, 3
  s_add_u32 s7, s7, s8
  s_sub_u32 s9, s2, 1
  v_mov_b32 v6, s7
  s_mov_b32 s10, 0
L_round:
  s_lshl_b32 s11, s7, 2
  s_add_u32 s12, s0, s11
  s_addc_u32 s13, s1, 0
  v_mov_b32 v2, s12
  v_mov_b32 v3, s13
  flat_store_dword v[2:3], v6
  s_waitcnt vmcnt(0)
  v_mov_b32 v4, s9
  v_and_b32 v5, 63, v0
  v_cmp_eq_u32 vcc, s3, v5
  s_and_saveexec_b64 s[14:15], vcc
  s_mov_b32 m0, 0x30000
  ds_gws_barrier v4 offset:2 gds
  s_mov_b64 exec, 0
  ds_gws_barrier v4 offset:2 gds
  s_mov_b64 exec, s[14:15]
  s_add_u32 s16, s7, 1
  s_cmp_eq_u32 s16, s2
  s_cselect_b32 s16, 0, s16
  s_lshl_b32 s11, s16, 2
  s_add_u32 s12, s0, s11
  s_addc_u32 s13, s1, 0
  v_mov_b32 v2, s12
  v_mov_b32 v3, s13
  flat_load_dword v6, v[2:3] glc
  s_waitcnt vmcnt(0)
  ds_gws_barrier v4 offset:7 gds
  s_add_u32 s10, s10, 1
  s_cmp_lt_u32 s10, 4
  s_cbranch_scc1 L_round
  s_lshl_b32 s11, s2, 2
  s_add_u32 s12, s0, s11
  s_addc_u32 s13, s1, 0
  s_lshl_b32 s11, s7, 8
  s_add_u32 s12, s12, s11
  s_addc_u32 s13, s13, 0
  v_lshlrev_b32 v5, 2, v5
  v_mov_b32 v3, s13
  v_add_u32 v2, vcc, s12, v5
  v_addc_u32 v3, vcc, 0, v3, vcc
  flat_store_dword v[2:3], v6
  s_endpgm
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 7
  .amdhsa_next_free_sgpr 20
.end_amdhsa_kernel
)";

}  // namespace

TEST_CASE("gcn grid barrier: waves wait at semaphores, round after round") {
  const auto kernel = device().load_text(kText, lanewise::Isa::gcn).kernel();
  const bool side_by_side = device().info().type == "reference";
  for (const uint32_t groups : {1U, side_by_side ? 4U : 1U})
    for (const uint32_t lane : {0U, 5U, 63U}) {
      CAPTURE(groups);
      CAPTURE(lane);
      const uint32_t waves = groups * kWaves;
      auto out = device().allocate(waves * 4 + waves * 256);
      kernel
          .launch({.grid = {groups}, .block = {kWaves * 64}, .policies = {{"groups", "resident"}}},
                  out, waves, lane)
          .check();
      const auto got = out.read<uint32_t>();
      for (uint32_t n = 0; n < waves * 64; ++n) CHECK(got[waves + n] == (n / 64 + kRounds) % waves);
    }
  auto out = device().allocate(4096);
  const auto apart = kernel.launch({.grid = {1}, .block = {kWaves * 64}}, out, kWaves, 0U);
  REQUIRE(apart.fault_count != 0);
  CHECK(apart.faults[0].kind == lanewise::FaultKind::illegal_instruction);
  CHECK(apart.faults[0].reason.find("hipLaunchCooperativeKernel") != std::string::npos);
}
