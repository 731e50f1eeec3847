// Text that LLVM's assembler takes though the instruction has no bits for all of it. Bytes are
// those of llvm-mc 14; each line has a warning here.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

namespace {

gcn::Listing stream(const std::string& body, const char* target) {
  return gcn::parse(
      fmt::format(".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n{}\ns_endpgm\n", target, body));
}

std::string words_of(const gcn::Listing& l) {
  std::string out;
  if (l.kernels.empty()) return out;
  for (const gcn::Instruction& i : l.kernels[0].code)
    if (i.row->name != "s_endpgm")
      for (const uint32_t w : gcn::encode(i, l.gen)) out += fmt::format("{:08x} ", w);
  if (!out.empty()) out.pop_back();
  return out;
}

struct LostBits {
  const char *target, *text, *words;
};
/// The line assembles to these words, with one warning.
gcn::Listing warned(const LostBits& c) {
  CAPTURE(c.text);
  gcn::Listing l = stream(c.text, c.target);
  CHECK(l.ok());
  CHECK(words_of(l) == c.words);
  REQUIRE(l.diagnostics.size() == 1);
  CHECK(l.diagnostics[0].warning);
  return l;
}

}  // namespace

TEST_CASE("gcn text: numbers with more bits than their field") {
  const LostBits cases[] = {
      {"gfx600", "s_nop 0x10003", "bf800003"},
      {"gfx700", "s_sleep -40000", "bf8e63c0"},
      {"gfx803", "s_nop 6.1e-5", "bf80ccd5"},
      {"gfx700", "s_waitcnt 1e-3", "bf8ca9fc"},
      {"gfx803", "s_atc_probe_buffer -75, s[12:15], 0xbfe41", "c09e0d46 000bfe41"},
      {"gfx600", "s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0x123456789", "ba80f801 23456789"},
      {"gfx803", "s_setreg_imm32_b32 hwreg(1), 1e-3", "ba00f801 d2f1a9fc"},
      {"gfx803", "v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:-1 bank_mask:0x123",
       "7e0002fa f300e401"},
      {"gfx600", "image_load v0, v[4:7], s[8:15] dmask:0x11", "f0000100 00020004"},
      {"gfx600", "v_madmk_f32 v0, 0x11213, 2.0, v1", "400002ff 40000000"},
      {"gfx803", "v_madak_f32 v0, 2.5, v1, 17", "300002ff 00000011"}};
  for (const LostBits& c : cases) warned(c);
}

TEST_CASE("gcn text: numbers that fill their field have no warning") {
  for (const char* text :
       {"s_nop 65535", "s_nop -1", "s_waitcnt 0xf7f", "v_madmk_f32 v0, 2.0, 0x11213, v1",
        "buffer_load_dword v0, off, s[4:7], s1 offset:4095", "s_movk_i32 s0, 0.0"}) {
    CAPTURE(text);
    CHECK(stream(text, "gfx803").diagnostics.empty());
  }
  for (const char* text :
       {"s_movk_i32 s0, 1.0", "ds_read_b32 v0, v1 offset:65536", "v_madmk_f32 v0, 1.5, 2.5, v1",
        "buffer_load_dword v0, off, s[4:7], s1 offset:4096", "v_mad_u16 v0, 65535, v1, v2"}) {
    CAPTURE(text);
    CHECK_FALSE(stream(text, "gfx803").ok());
  }
}

TEST_CASE("gcn text: conditions in places without a code for them are words that do not run") {
  const LostBits cases[] = {{"gfx600", "s_min_i32 scc, s1, 1", "837d8101"},
                            {"gfx803", "s_mov_b32 vccz, 0.1", "befb00ff 3dcccccd"},
                            {"gfx600", "s_cmpk_gt_i32 execz, 0x33e1", "b2fc33e1"},
                            {"gfx700", "v_cmp_gt_i32 vccz, 4.0, v3", "d10800fb 000206f6"},
                            {"gfx700", "v_readfirstlane_b32 vccz, v1", "7ff60501"},
                            {"gfx600", "s_buffer_load_dword s0, s[4:7], vccz", "c20004fb"},
                            {"gfx803", "s_load_dword s0, s[2:3], src_scc", "c0000001 0000007d"}};
  for (const LostBits& c : cases) {
    const gcn::LowerResult lowered = gcn::lower(warned(c));
    CHECK(lowered.module.kernels.empty());
    CHECK(lowered.rejected.size() == 1);
  }
  CHECK_FALSE(stream("s_mov_b64 scc, 1", "gfx803").ok());
  CHECK_FALSE(stream("s_load_dword s0, s[2:3], scc", "gfx803").ok());
}
