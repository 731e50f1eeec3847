// Text as people write it: the forms that the assemblers allow beside those that compilers print.
#include <doctest/doctest.h>

#include <string>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

namespace {

using Words = std::vector<uint32_t>;

Words words_of(const std::string& text, gcn::Gen gen) {
  const gcn::Parsed p = gcn::parse_instruction(text, gen);
  CHECK_MESSAGE(p.instruction.has_value(), text, ": ", p.error.message);
  return p.instruction ? gcn::encode(*p.instruction, gen) : Words{};
}

std::string first_error(const std::string& text, gcn::Gen gen = gcn::Gen::gfx8) {
  const gcn::Parsed p = gcn::parse_instruction(text, gen);
  return p.instruction ? "" : p.error.message;
}

}  // namespace

// The words are llvm-mc's.
TEST_CASE("gcn written: words of the assembler") {
  const struct {
    const char* text;
    Words gfx6, gfx8;
  } cases[] = {
      // A sign in front of a register asks for the long form.
      {"v_add_f32 v0, -v1, v2", {0xd2060000, 0x20020501}, {0xd1010000, 0x20020501}},
      {"v_mul_f32 v0, -s1, v2", {0xd2100000, 0x20020401}, {0xd1050000, 0x20020401}},
      {"v_rcp_f32 v0, -v1", {0xd3540000, 0x20000101}, {0xd1620000, 0x20000101}},
      {"v_cmp_lt_f32 vcc, -v1, v2", {0xd002006a, 0x20020501}, {0xd041006a, 0x20020501}},
      {"v_mul_f32 v0, abs(v1), v2", {0xd2100100, 0x00020501}, {0xd1050100, 0x00020501}},
      {"v_mul_f32 v0, v1, -abs(v2)", {0xd2100200, 0x40020501}, {0xd1050200, 0x40020501}},
      // Operands without commas.
      {"s_load_dwordx2 s[0:1], s[0:1] 0x0", {0xc0400100}, {0xc0060000, 0}},
      {"s_load_dword s0 s[4:5] 0x10", {0xc0000510}, {0xc0020002, 0x10}},
      {"buffer_load_dword v0 v1 s[4:7] 0 offen",
       {0xe0301000, 0x80010001},
       {0xe0501000, 0x80010001}},
      // Left out: an offset of 0, the condition code.
      {"s_load_dword s0, s[4:5]", {0xc0000500}, {0xc0020002, 0}},
      {"s_load_dword s0, s[4:5], offset:0x10", {0xc0000510}, {0xc0020002, 0x10}},
      {"v_cmp_lt_f32 v1, v2", {0x7c020501}, {0x7c820501}},
      {"v_cmp_lt_f32_e32 v1, v2", {0x7c020501}, {0x7c820501}},
      {"v_cmp_lt_f64 s[2:3], v[0:1], v[2:3]", {0xd0420002, 0x00020500}, {0xd0610002, 0x00020500}},
      {"v_cndmask_b32 v0, v1, v2", {0x00000501}, {0x00000501}},
      {"V_MOV_B32 v0, v1", {0x7e000301}, {0x7e000301}}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(words_of(c.text, gcn::Gen::gfx6) == c.gfx6);
    CHECK(words_of(c.text, gcn::Gen::gfx8) == c.gfx8);
  }
}

TEST_CASE("gcn written: what stays wrong") {
  CHECK(first_error("v_add_f32_e32 v0, -v1, v2").find("signs of registers ask for the long") == 0);
  CHECK(first_error("s_add_u32 s0, s1").find("expected ','") == 0);
  CHECK(first_error("v_add_u32 v0, v1, v2").find("expected") == 0);
  CHECK(first_error("v_addc_u32 v0, vcc, v1, v2").find("expected ','") == 0);
  CHECK(first_error("v_mov_b32 v0 v1 v2").find("unexpected text") == 0);
}

TEST_CASE("gcn written: a whole file, as LLVM's guide has it") {
  const gcn::Listing l = gcn::parse(
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\" // optional\n.hsatext\n.globl k\n.p2align 8\n"
      ".type k,@function\nlast = 5\nk:\n  s_load_dwordx2 s[0:1], s[0:1] 0x0\n"
      "  v_mov_b32 v[last], 3.14159\n  s_endpgm\n.Lend:\n  .size k, .Lend-k\n.rodata\n.p2align 6\n"
      ".amdhsa_kernel k\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
      "  .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr+3\n"
      "  .amdhsa_next_free_sgpr .amdgcn.next_free_sgpr\n"
      "  .amdhsa_group_segment_fixed_size last*16\n.end_amdhsa_kernel\n");
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  REQUIRE(l.kernels.size() == 1);
  CHECK(l.kernels[0].allocated_vgprs == 12);  // v5 is the last: 6 + 3, in fours
  CHECK(l.kernels[0].group_bytes == 80);
  CHECK(l.kernels[0].state.kernarg_ptr == 0);
}
