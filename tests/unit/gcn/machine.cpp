// What a kernel asks of the machine beside computing: modes, clocks, traps, hints.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

gcn::LowerResult lowered(const std::string& body, gcn::Gen gen) {
  const gcn::Listing l = gcn::parse(body + "s_endpgm\n", gen);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
  return gcn::lower(l);
}

/// The dword that lane 0 leaves in v1.
uint32_t result_of(const std::string& body, gcn::Gen gen = gcn::Gen::gfx7, size_t faults = 0) {
  const std::string load = gen == gcn::Gen::gfx8 ? "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                                 : "s_load_dwordx2 s[4:5], s[0:1], 0x0\n";
  gcn::LowerResult r = lowered(load + "s_waitcnt lgkmcnt(0)\n" + body +
                                   "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\n"
                                   "flat_store_dword v[2:3], v1\n",
                               gen);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  REQUIRE(r.module.kernels.size() == 1);
  test::Bench bench;
  const uint64_t at = bench.put(std::vector<uint32_t>{0xdeadbeef});
  bench.arg(at);
  CHECK(bench.run(r.module.kernels[0], 1, 1).fault_count == faults);
  return bench.get<uint32_t>(at, 1)[0];
}

std::string lowering_error(const std::string& body) {
  for (const Diagnostic& d : lowered(body, gcn::Gen::gfx7).diagnostics)
    if (!d.warning) return d.message;
  return "";
}

}  // namespace

TEST_CASE("arithmetic follows the MODE register") {
  // 1 + 2^-30, to nearest and upwards.
  const std::string sum = "v_mov_b32 v4, 0x30800000\nv_add_f32 v1, 1.0, v4\n";
  CHECK(result_of(sum) == 0x3f800000);
  CHECK(result_of("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\n" + sum) == 0x3f800001);
  CHECK(result_of("s_movk_i32 s6, 1\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s6\n" + sum) ==
        0x3f800001);
  CHECK(result_of("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\n"
                  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\n" +
                  sum) == 0x3f800000);
  // Subnormals: flushed at first, kept by each of two bits.
  const std::string tiny = "v_mov_b32 v4, 0x00000400\nv_mul_f32 v1, 2.0, v4\n";
  const std::string small = "v_mov_b32 v4, 0x00c00000\nv_mul_f32 v1, 0.5, v4\n";
  const auto denorm = [](int mode) {
    return fmt::format("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), {}\n", mode);
  };
  CHECK(result_of(tiny) == 0);
  CHECK(result_of(denorm(3) + tiny) == 0x800);
  CHECK(result_of(denorm(1) + tiny) == 0);
  CHECK(result_of(denorm(2) + tiny) == 0);
  CHECK(result_of(denorm(1) + small) == 0);
  CHECK(result_of(denorm(2) + small) == 0x600000);
  CHECK(result_of("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 9\n"
                  "s_getreg_b32 s6, hwreg(HW_REG_MODE, 4, 4)\nv_mov_b32 v1, s6\n") == 9);
}

TEST_CASE("modes that depend on the path, and registers that nobody models, are errors") {
  CHECK(
      lowering_error("s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .L1\n"
                     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\n.L1:\nv_add_f32 v1, v2, v3\n")
          .find("path") != std::string::npos);
  CHECK(lowering_error("s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s2\nv_add_f32 v1, v2, v3\n")
            .find("path") != std::string::npos);
  CHECK(lowering_error("s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s2\nv_add_i32 v1, vcc, v2, v3\n")
            .empty());
  for (const char* text :
       {"s_getreg_b32 s2, hwreg(HW_REG_HW_ID)\n", "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s2\n",
        "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 8, 1), 1\n"})
    CHECK(lowering_error(text).find("not modelled") != std::string::npos);
  // No exception is pending: what compilers place around semaphores.
  CHECK(lowering_error("s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 8, 1), 0\n"
                       "s_getreg_b32 s2, hwreg(HW_REG_TRAPSTS, 8, 1)\n")
            .empty());
  CHECK(lowering_error("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 1\nv_add_f32 v1, v2, v3\n")
            .find("MODE") != std::string::npos);
}

TEST_CASE("clocks grow") {
  const std::string later =
      "s_waitcnt lgkmcnt(0)\ns_cmp_lt_u32 s6, s8\ns_cselect_b32 s6, 1, 0\n"
      "v_mov_b32 v1, s6\n";
  CHECK(result_of("s_memtime s[6:7]\ns_memtime s[8:9]\n" + later) <= 1);
  CHECK(result_of("s_memrealtime s[6:7]\ns_memrealtime s[8:9]\n" + later, gcn::Gen::gfx8) <= 1);
}

TEST_CASE("traps are faults") {
  CHECK(result_of("v_mov_b32 v1, 1\ns_trap 1\n", gcn::Gen::gfx7, 1) == 0xdeadbeef);
  CHECK(result_of("v_mov_b32 v1, 1\ns_sethalt 1\n", gcn::Gen::gfx7, 1) == 0xdeadbeef);
  CHECK(result_of("v_mov_b32 v1, 1\ns_sethalt 0\n") == 1);
}

TEST_CASE("hints change nothing") {
  const std::string quiet =
      "s_sleep 5\ns_setprio 3\ns_incperflevel 1\ns_decperflevel 1\ns_icache_inv\ns_ttracedata\n"
      "v_nop\nv_nop_e64\nv_clrexcp\nv_clrexcp_e64\n";
  const std::string gcn3 = quiet +
                           "s_wakeup\ns_dcache_wb_vol\ns_atc_probe 8, s[4:5], 0x10\n"
                           "s_atc_probe_buffer 8, s[4:7], 0x10\n";
  CHECK(result_of("v_mov_b32 v1, 7\n" + quiet) == 7);
  CHECK(result_of("v_mov_b32 v1, 7\n" + gcn3, gcn::Gen::gfx8) == 7);
  CHECK(result_of("v_mov_b32 v1, 7\nds_nop\n", gcn::Gen::gfx7) == 7);
}

TEST_CASE("analyses ask rows, never names or functions") {
  for (const char* file :
       {"lowering/analysis/analysis.cpp", "lowering/analysis/constants.cpp",
        "lowering/analysis/index_mode.cpp", "lowering/analysis/lane_slots.cpp",
        "lowering/analysis/lane_slot_owners.cpp", "lowering/analysis/mask_numbers.cpp",
        "lowering/lower.cpp", "lowering/families/lane_form.cpp",
        "lowering/families/counted_registers.cpp", "rules/hazards.cpp", "rules/buffer_rules.cpp",
        "encoding/encode.cpp"}) {
    std::ifstream in(std::string(LANEWISE_TEST_DATA) + "/../runtime/isa/gcn/" + file);
    REQUIRE_MESSAGE(in.good(), file);
    std::stringstream text;
    text << in.rdbuf();
    for (const char* forbidden : {"lower == ", "lower != ", "->name ==", ".name ==", "name[",
                                  "name.find(", "name.starts_with", "name.substr"}) {
      // Rows with and without a result share their name: the one lookup by it.
      const bool by_name = std::string(forbidden).find("name ==") != std::string::npos;
      if (file == std::string("encoding/encode.cpp") && by_name) continue;
      const std::string where = std::string(file) + ": " + forbidden;
      CHECK_MESSAGE(text.str().find(forbidden) == std::string::npos, where);
    }
  }
}
