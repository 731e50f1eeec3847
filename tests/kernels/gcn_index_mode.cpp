// Registers that are counted (s_set_gpr_idx_on) in whole kernels and in every wave mode:
// what LLVM makes of vectors with indices, the loops over registers of trap handlers, and the
// registers at the end of those that a wave has.
#include <array>
#include <numeric>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::WaveMode;

namespace {

/// Subgroups of fewer than 8 lanes cannot hold a wave of 64 together.
std::vector<WaveMode> modes_across() {
  const uint32_t size = device().info().subgroup_size;
  if (size != 0 && size < 8) return {WaveMode::automatic, WaveMode::serial};
  return {WaveMode::automatic, WaveMode::packed, WaveMode::serial};
}
std::vector<WaveMode> every_mode() {
  std::vector<WaveMode> modes = modes_across();
  modes.push_back(WaveMode::lane);
  return modes;
}
constexpr uint32_t kWaveLanes = 64;

lanewise::Kernel compiled(const std::string& name) {
  return device().load_file(corpus("gcn/index_mode.gfx803.s")).kernel(name);
}

using Vector = std::array<uint32_t, 16>;
Vector vector_of(const std::vector<uint32_t>& in, size_t lane) {
  Vector v;
  std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(16 * lane), 16, v.begin());
  return v;
}

lanewise::Kernel stream(const std::string& text) {
  return device().load_text(text, lanewise::Isa::gcn, "counted", "gfx803").kernel("");
}

}  // namespace

TEST_CASE("gcn index mode: vectors in registers, indexed by numbers of the launch") {
  const lanewise::Kernel kernel = compiled("uniform");
  const auto in = random_ints<uint32_t>(kWaveLanes * 16, 7);
  auto from = device().buffer(in, "in");
  for (const WaveMode mode : every_mode())
    for (const auto& [a, b, c] :
         {std::array{5, 5, 7}, std::array{0, 15, 0}, std::array{15, 3, 2}}) {
      CAPTURE(name(mode));
      CAPTURE(b);
      std::vector<uint32_t> want;
      for (size_t lane = 0; lane < kWaveLanes; ++lane) {
        Vector v = vector_of(in, lane);
        v.at(static_cast<size_t>(a)) += 1000;
        const auto pair = 2 * static_cast<size_t>(c);
        want.push_back(3 * v.at(static_cast<size_t>(b)) + (v.at(pair) ^ v.at(pair + 1)));
      }
      auto out = device().buffer(std::vector<uint32_t>(kWaveLanes), "out");
      kernel.launch({.grid = {1}, .block = {kWaveLanes}, .wave = mode}, out, from, a, b, c).check();
      check_equal(out.read<uint32_t>(), want);
    }
}

// Each iteration of the loop is for the lanes that have the first one's number.
TEST_CASE("gcn index mode: vectors in registers, indexed by numbers of each lane") {
  const lanewise::Kernel kernel = compiled("lanes");
  const auto in = random_ints<uint32_t>(kWaveLanes * 16, 8),
             which = random_ints<uint32_t>(kWaveLanes, 9);
  auto from = device().buffer(in, "in"), numbers = device().buffer(which, "which");
  for (const WaveMode mode : modes_across())
    for (const uint32_t lanes : {kWaveLanes, 37U}) {
      CAPTURE(name(mode));
      CAPTURE(lanes);
      // Few: the older lavapipe ends loops early, and serial mode takes every lane through its own.
      constexpr uint32_t kIterations = 2;
      std::vector<uint32_t> want(kWaveLanes);
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        Vector v = vector_of(in, lane);
        for (uint32_t k = 0; k < kIterations; ++k)
          want[lane] = 3 * want[lane] + v.at((which[lane] + k) % 16)++;
      }
      auto out = device().buffer(std::vector<uint32_t>(kWaveLanes), "out");
      kernel.launch({.grid = {1}, .block = {lanes}, .wave = mode}, out, from, numbers, kIterations)
          .check();
      check_equal(out.read<uint32_t>(), want);
    }
}

// M0 is the counter itself, so what it names is not known at translation; loads and stores take
// their registers as they are named.
TEST_CASE("gcn index mode: a loop over registers that counts in M0") {
  std::string text =
      "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s8, s4\n"
      "s_mov_b32 s9, s5\ns_mov_b32 s10, -1\ns_mov_b32 s11, 0xf000\ns_mov_b32 s12, s6\n"
      "s_mov_b32 s13, s7\ns_mov_b32 s14, -1\ns_mov_b32 s15, 0xf000\nv_lshlrev_b32 v1, 2, v0\n";
  for (int n = 0; n < 8; ++n)
    text += "buffer_load_dword v" + std::to_string(8 + n) +
            ", v1, s[12:15], 0 offen offset:" + std::to_string(256 * n) + "\n";
  text +=
      "s_waitcnt vmcnt(0)\ns_mov_b32 s16, 0\ns_mov_b32 m0, 0\ns_set_gpr_idx_on m0, gpr_idx(SRC0)\n"
      ".Lregister:\nv_sub_u32 v2, vcc, v8, v0\nbuffer_store_dword v2, v1, s[8:11], s16 offen\n"
      "s_addk_i32 s16, 0x100\ns_add_u32 m0, m0, 2\ns_and_b32 s17, m0, 0xff\n"
      "s_cmp_lt_u32 s17, 8\ns_cbranch_scc1 .Lregister\ns_set_gpr_idx_off\ns_endpgm\n";
  const lanewise::Kernel kernel = stream(text);
  const auto in = random_ints<uint32_t>(kWaveLanes * 8, 10);
  std::vector<uint32_t> want;
  for (uint32_t n = 0; n < 4; ++n)
    for (uint32_t lane = 0; lane < kWaveLanes; ++lane)
      want.push_back(in[kWaveLanes * 2 * n + lane] - lane);
  auto from = device().buffer(in, "in");
  for (const WaveMode mode : every_mode()) {
    CAPTURE(name(mode));
    auto out = device().buffer(std::vector<uint32_t>(want.size()), "out");
    kernel.launch({.grid = {1}, .block = {kWaveLanes}, .wave = mode}, out, from).check();
    check_equal(out.read<uint32_t>(), want);
  }
}

// The descriptor asks for 9 registers, and a wave gets them by fours: v11 is there, v12 is not.
TEST_CASE("gcn index mode: the last registers, and those that do not exist") {
  const lanewise::Kernel kernel = device()
                                      .load_text(R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
edge:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s12, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s6, -1
  s_mov_b32 s7, 0xf000
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 7
  v_mov_b32 v3, 8
  v_mov_b32 v4, 9
  v_mov_b32 v5, 10
  s_set_gpr_idx_on s12, gpr_idx(DST)
  v_add_u32 v2, vcc, 40, v0
  s_set_gpr_idx_mode gpr_idx(SRC0)
  v_mov_b32 v3, v2
  s_set_gpr_idx_mode gpr_idx(SRC1)
  v_lshrrev_b64 v[4:5], 0, v[2:3]
  s_set_gpr_idx_off
  buffer_store_dword v3, v1, s[4:7], 0 offen
  buffer_store_dword v4, v1, s[4:7], 0 offen offset:256
  buffer_store_dword v5, v1, s[4:7], 0 offen offset:512
  buffer_store_dword v2, v1, s[4:7], 0 offen offset:768
  s_endpgm
.amdhsa_kernel edge
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 12
  .amdhsa_next_free_vgpr 9
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
)",
                                                 lanewise::Isa::gcn, "edge")
                                      .kernel("edge");
  for (const WaveMode mode : every_mode())
    for (const uint32_t index : {0U, 1U, 3U, 8U, 9U, 10U, 253U, 255U, 0x101U}) {
      CAPTURE(name(mode));
      CAPTURE(index);
      std::vector<uint32_t> want(4 * kWaveLanes);
      for (uint32_t lane = 0; lane < kWaveLanes; ++lane) {
        // Registers that nobody has written hold 0 here.
        std::array<uint32_t, 12> v = {lane, 4 * lane, 7, 8, 9, 10};
        const size_t at = 2 + (index & 0xff);
        if (at < v.size()) v.at(at) = 40 + lane;
        v[3] = at < v.size() ? v.at(at) : v[0];
        const size_t low = at + 1 < v.size() ? at : 0;
        const std::array<uint32_t, 2> pair = {v.at(low), v.at(low + 1)};
        want[lane] = v[3];
        want[kWaveLanes + lane] = pair[0];
        want[2 * kWaveLanes + lane] = pair[1];
        want[3 * kWaveLanes + lane] = v[2];
      }
      auto out = device().buffer(std::vector<uint32_t>(want.size()), "out");
      kernel.launch({.grid = {1}, .block = {kWaveLanes}, .wave = mode}, out, index).check();
      check_equal(out.read<uint32_t>(), want);
    }
}
