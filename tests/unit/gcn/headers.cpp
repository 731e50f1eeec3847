// Fields of .amdhsa_kernel: once each, as wide and as many as LLVM's assembler has them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;
using gcn::Gen;

namespace {

constexpr const char* kRegisters = ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n";

gcn::Listing parsed(const std::string& fields, Gen gen) {
  return gcn::parse("k:\ns_endpgm\n.amdhsa_kernel k\n" + fields + ".end_amdhsa_kernel\n", gen);
}
/// With its line, the block's first being 4.
std::string complaint(const std::string& fields, Gen gen = Gen::gfx8) {
  const gcn::Listing l = parsed(fields, gen);
  return l.diagnostics.empty()
             ? ""
             : fmt::format("{}: {}", l.diagnostics[0].line, l.diagnostics[0].message);
}
std::string of_field(const std::string& field, Gen gen = Gen::gfx8) {
  return complaint("." + field + "\n" + kRegisters, gen);
}

}  // namespace

TEST_CASE("gcn headers: every field has its width") {
  CHECK(of_field("amdhsa_system_vgpr_workitem_id 65536") == "4: expected a number of 0 to 3");
  CHECK(of_field("amdhsa_system_vgpr_workitem_id 3") == "");
  CHECK(of_field("amdhsa_system_vgpr_workitem_id -1") == "4: expected a number of 0 to 3");
  for (const char* bit : {"user_sgpr_dispatch_ptr", "system_sgpr_workgroup_id_y", "dx10_clamp",
                          "ieee_mode", "reserve_vcc", "exception_int_div_zero"}) {
    CHECK(of_field(fmt::format("amdhsa_{} 1", bit)) == "");
    CHECK(of_field(fmt::format("amdhsa_{} 2", bit)) == "4: expected a number of 0 to 1");
  }
  CHECK(of_field("amdhsa_float_round_mode_32 4") == "4: expected a number of 0 to 3");
  CHECK(of_field("amdhsa_kernarg_size 0xffffffff") == "");
  CHECK(of_field("amdhsa_kernarg_size 0x100000000") == "4: expected a number of 0 to 4294967295");
  CHECK(of_field("amdhsa_kernarg_size 1 2") == "4: unexpected text behind the number, found '2'");
  CHECK(of_field("amdhsa_kernarg_size later") == "4: expected a number, found 'later'");
}

TEST_CASE("gcn headers: unknown, repeated and missing fields") {
  CHECK(of_field("amdhsa_tg_split 0") == "4: unknown directive .amdhsa_tg_split");
  CHECK(of_field("amdhsa_ieee_mode 0\n.amdhsa_ieee_mode 0") ==
        "5: .amdhsa_ieee_mode is there twice");
  CHECK(complaint(".amdhsa_next_free_sgpr 1\n") == "5: .amdhsa_next_free_vgpr is missing");
  CHECK(complaint(".amdhsa_next_free_vgpr 1\n") == "5: .amdhsa_next_free_sgpr is missing");
  CHECK(complaint("s_nop 0\n").starts_with("4: expected an .amdhsa_ directive"));
  const auto outside = [](const std::string& text) {
    const gcn::Listing l = gcn::parse("k:\ns_endpgm\n" + text, Gen::gfx8);
    return l.diagnostics.empty() ? "" : l.diagnostics[0].message;
  };
  CHECK(outside(".amdhsa_ieee_mode 0\n") ==
        ".amdhsa_ieee_mode: only possible inside .amdhsa_kernel");
  CHECK(outside(".amdhsa_kernel k\n" + std::string(kRegisters)) == ".end_amdhsa_kernel is missing");
  CHECK(outside(".amdhsa_kernel\n").find("expected the kernel's name") == 0);
  CHECK(outside(".hsa_code_object_isa 8\n").find("expected ','") == 0);
}

TEST_CASE("gcn headers: what a target has, and as many registers") {
  CHECK(of_field("amdhsa_reserve_flat_scratch 1", Gen::gfx6) ==
        "4: .amdhsa_reserve_flat_scratch is for gfx700 and later");
  CHECK(of_field("amdhsa_reserve_xnack_mask 0", Gen::gfx7) ==
        "4: .amdhsa_reserve_xnack_mask is for gfx803 and later");
  CHECK(of_field("amdhsa_reserve_xnack_mask 0") == "");
  CHECK(of_field("amdhsa_reserve_xnack_mask 1") == "4: the target has no XNACK mask");
  const auto registers = [](int vectors, int scalars, Gen gen, const char* more = "") {
    return complaint(fmt::format(".amdhsa_next_free_vgpr {}\n.amdhsa_next_free_sgpr {}\n{}",
                                 vectors, scalars, more),
                     gen) == "";
  };
  CHECK(registers(256, 1, Gen::gfx8));
  CHECK_FALSE(registers(257, 1, Gen::gfx8));
  CHECK(registers(0, 102, Gen::gfx8));
  CHECK_FALSE(registers(0, 103, Gen::gfx8));
  // Before GCN3 the reserved ones are among the 104: vcc, and flat_scratch with it.
  CHECK(registers(0, 100, Gen::gfx7));
  CHECK_FALSE(registers(0, 101, Gen::gfx7));
  CHECK(registers(0, 102, Gen::gfx7, ".amdhsa_reserve_flat_scratch 0\n"));
  CHECK_FALSE(registers(0, 103, Gen::gfx7, ".amdhsa_reserve_flat_scratch 0\n"));
  const std::string asks =
      ".amdhsa_user_sgpr_private_segment_buffer 1\n.amdhsa_user_sgpr_dispatch_ptr 1\n";
  CHECK(complaint(asks + ".amdhsa_user_sgpr_count 6\n" + kRegisters) == "");
  CHECK(complaint(asks + ".amdhsa_user_sgpr_count 5\n" + kRegisters) ==
        "9: .amdhsa_user_sgpr_count 5: the block's fields ask for 6");
  CHECK(of_field("amdhsa_user_sgpr_count 31") == "");
  CHECK(of_field("amdhsa_user_sgpr_count 32") == "7: 32 user registers: there are at most 31");
}

// Without an operating system clang names the target behind everything else.
TEST_CASE("gcn headers: the target at a file's end is that of all of it") {
  const std::string text = "k:\ns_load_dwordx2 s[2:3], s[0:1], 0x2c\ns_endpgm\n";
  const auto ended = [&](const char* target) {
    return fmt::format("{}\t.amd_amdgpu_isa \"amdgcn----{}\"\n", text, target);
  };
  const gcn::Listing l = gcn::parse(ended("gfx803"));
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  CHECK(l.gen == Gen::gfx8);
  CHECK(gcn::encode(l.kernels[0].code[0], l.gen) == std::vector<uint32_t>{0xc0060080, 0x2c});
  CHECK(gcn::parse(ended("gfx803"), Gen::gfx6).gen == Gen::gfx6);
  CHECK(gcn::parse(ended("gfx900")).diagnostics[0].message.starts_with("unknown target"));
  const gcn::Listing two =
      gcn::parse(".amdgcn_target \"amdgcn-amd-amdhsa--gfx700\"\n" + ended("gfx803"));
  REQUIRE(two.diagnostics.size() == 1);
  CHECK(two.diagnostics[0].line == 5);
  CHECK(two.diagnostics[0].message == "the lines in front of this are for gfx700");
}

TEST_CASE("gcn: words of another generation are named") {
  const gcn::Instruction words = gcn::undecoded({0xd2850000, 0x00020501}, Gen::gfx6);
  CHECK(gcn::nameless(words, Gen::gfx6) ==
        "d2850000 00020501 is no instruction of gfx600 that is known here (VOP3 0x142, fields of "
        "v_mad_i32_i24; of gfx803 it is v_mul_lo_u32 v0, v1, v2)");
}
