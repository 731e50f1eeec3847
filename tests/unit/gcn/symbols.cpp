// Expressions in operands: what LLVM's assembler makes of numbers, names of .set, differences and
// places. The words were assembled by llvm-mc 14 for gfx803.
#include <doctest/doctest.h>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

namespace {

std::vector<uint32_t> words(const std::string& text) {
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  std::vector<uint32_t> out;
  for (const gcn::Kernel& k : l.kernels)
    for (const gcn::Instruction& i : k.code)
      for (const uint32_t w : gcn::encode(i, gcn::Gen::gfx8)) out.push_back(w);
  return out;
}
std::vector<uint32_t> after_names(const std::string& line) {
  return words(".set c, 5\n.set big, 1000\n.set n, c-8\n" + line + "\n");
}
Diagnostic error(const std::string& text) {
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx8);
  REQUIRE_MESSAGE(l.diagnostics.size() == 1, text);
  return l.diagnostics[0];
}

using Words = std::vector<uint32_t>;

}  // namespace

TEST_CASE("gcn symbols: numbers and names of .set") {
  const struct {
    const char* text;
    Words want;
  } lines[] = {{"s_mov_b32 s0, c", {0xbe800085}},
               {"s_mov_b32 s0, c+3*2", {0xbe80008b}},
               {"s_mov_b32 s0, c + 1", {0xbe800086}},
               {"s_mov_b32 s0, (c+1)*2", {0xbe80008c}},
               {"s_mov_b32 s0, -c", {0xbe8000c5}},
               {"s_mov_b32 s0, ~c", {0xbe8000c6}},
               {"s_mov_b32 s0, n", {0xbe8000c3}},
               {"s_mov_b32 s0, big-c", {0xbe8000ff, 0x3e3}},
               {"s_mov_b32 s0, c==5", {0xbe8000c1}},
               {"s_mov_b32 s0, 1<<4", {0xbe800090}},
               {"s_mov_b32 s0, 1<<2+1", {0xbe800085}},
               {"s_mov_b32 s0, 7&3+1", {0xbe800084}},
               {"s_mov_b32 s0, (1+6|1)", {0xbe800088}},
               {"s_mov_b32 s0, !c", {0xbe800080}},
               {"s_mov_b32 s0, -7/2", {0xbe8000c3}},
               {"s_mov_b32 s0, -7%3", {0xbe8000c1}},
               {"s_mov_b32 s0, -16>>60", {0xbe80008f}},
               {"s_mov_b32 s0, 3<>4", {0xbe8000c1}},
               {"s_mov_b32 s0, 0x100000000-1", {0xbe8000c1}},
               {"v_add_f32 v0, c, v1", {0x02000285}},
               {"v_add_f32 v0, -(3), v1", {0x020002c3}},
               {"v_add_f32_e64 v0, |c|, v1", {0xd1010100, 0x00020285}},
               {"v_add_f32 v0, big, v1", {0x020002ff, 0x3e8}},
               {"s_mov_b64 s[0:1], c", {0xbe800185}},
               {"s_movk_i32 s0, big", {0xb00003e8}},
               {"s_branch c", {0xbf820005}},
               {"s_load_dword s0, s[2:3], c", {0xc0020001, 5}},
               {"buffer_load_dword v0, off, s[0:3], 0 offset:big+c", {0xe05003ed, 0x80000000}},
               {"ds_read_b32 v0, v1 offset:c*4", {0xd86c0014, 0x00000001}},
               {"s_nop c", {0xbf800005}}};
  for (const auto& l : lines) {
    Words got = after_names(l.text);
    if (std::string(l.text) == "s_branch c") got.resize(1);
    CHECK_MESSAGE(got == l.want, l.text);
  }
}

TEST_CASE("gcn symbols: differences, and distances from the literal itself") {
  const std::string text =
      "a:\ns_nop 0\ns_nop 0\n.Lb:\n"
      "s_mov_b32 s0, .Lb-a\ns_mov_b32 s0, .Le-.Lb\ns_mov_b32 s0, .Le\ns_mov_b32 s0, .Lb-a+4\n"
      "v_mov_b32 v0, .Lb-a\ns_add_u32 s0, s0, .Le+4\ns_getpc_b64 s[4:5]\n"
      "s_add_u32 s4, s4, .Le-(.+4)\ns_mov_b32 s0, .-.Lb\n.Le:\ns_endpgm\n";
  CHECK(words(text) == Words{0xbf800000, 0xbf800000, 0xbe8000ff, 8,          0xbe8000ff,
                             0x44,       0xbe8000ff, 0x30,       0xbe8000ff, 12,
                             0x7e0002ff, 8,          0x8000ff00, 0x1c,       0xbe841c00,
                             0x8004ff04, 0xc,        0xbe8000ff, 0x3c,       0xbf810000});
}

TEST_CASE("gcn symbols: a small difference stays a literal, as its value is known late") {
  const Words w = words("k:\n.La:\ns_mov_b32 s0, .Lb-.La\n.Lb:\ns_endpgm\n");
  CHECK(w == Words{0xbe8000ff, 8, 0xbf810000});
}

TEST_CASE("gcn symbols: functions by name, alias and branch") {
  const std::string head = ".type k,@function\n.type f,@function\n.set g, f\n";
  const Words w = words(head +
                        "k:\ns_add_u32 s0, s0, f@rel32@lo+4\ns_addc_u32 s1, s1, g@rel32@hi+12\n"
                        "s_branch f\ns_mov_b32 s2, f-k\ns_endpgm\nf:\ns_endpgm\n");
  CHECK(w == Words{0x8000ff00, 0x20, 0x8201ff01, 0, 0xbf820003, 0xbe8200ff, 0x20, 0xbf810000,
                   0xbf810000});
}

// As compilers write the place in front of a table: relative, because the text says so.
TEST_CASE("gcn symbols: before a symbol") {
  const Words w = words(
      ".type k,@function\n.type f,@function\nk:\ns_add_u32 s0, s0, f@rel32@lo-252\n"
      "s_addc_u32 s1, s1, f@rel32@hi-244\ns_endpgm\nf:\ns_endpgm\n");
  CHECK(w == Words{0x8000ff00, 0xffffff14, 0x8201ff01, 0xffffffff, 0xbf810000, 0xbf810000});
}

TEST_CASE("gcn symbols: what has no value says what, where and why") {
  const struct {
    const char* line;
    const char* why;
  } bad[] = {{"s_mov_b32 s0, nowhere", "'nowhere' is not defined in this file"},
             {"s_add_u32 s0, s0, nowhere@rel32@lo+4", "'nowhere' is not defined in this file"},
             {"s_mov_b32 s0, k-4", "the value depends on where 'k' is loaded"},
             {"s_mov_b32 s0, k*2", "'k' is an address"},
             {"s_mov_b32 s0, k@abs32@lo", "'@abs32@lo' needs the loader"},
             {"s_mov_b32 s0, k@gotpcrel32@lo+4", "'@gotpcrel32@lo' needs the loader"},
             {"s_mov_b64 s[0:1], k", "symbols stand where 32-bit literals can"},
             {"v_mad_f32 v0, k, v1, v2", "symbols stand where 32-bit literals can"},
             {"s_movk_i32 s0, k", "expected a number"},
             {"s_mov_b32 s0, later", "'later' gets its value behind this line only"},
             {"s_mov_b32 s0, 5/0", "division has no result"},
             {"s_mov_b32 s0, 1<<32", "number does not fit in 32 bits"},
             {"s_mov_b32 s0, (1+2", "expected ')'"},
             {"s_branch nowhere", "label 'nowhere' is not defined in 'k'"},
             {"buffer_load_dword v0, off, s[0:3], 0 offset:4000+96", "offset goes from 0 to 4095"}};
  for (const auto& b : bad) {
    const Diagnostic d =
        error(std::string("k:\ns_nop 0\n") + b.line + "\ns_endpgm\n.set later, 7\n");
    CHECK_MESSAGE(d.line == 3, b.line);
    CHECK_MESSAGE(d.message.find(b.why) != std::string::npos, b.line << ": " << d.message);
  }
  CHECK(error("k:\ns_mov_b32 s0, " + std::string(200, '(') + "1\ns_endpgm\n")
            .message.find("too deep") != std::string::npos);
}

TEST_CASE("gcn symbols: a plain label that code runs into is a place in the kernel") {
  const char* loop =
      "k:\n  s_mov_b32 s0, 3\nagain:\n  s_sub_u32 s0, s0, 1\n  s_cmp_lg_u32 s0, 0\n"
      "  s_cbranch_scc1 again\n  s_endpgm\nother:\n  s_endpgm\n";
  const char* heads[] = {"", ".globl k\n.type k,@function\n", ".weak k\n",
                         ".globl k\n.globl other\n.type other, @function\n"};
  for (const char* head : heads) {
    const gcn::Listing l = gcn::parse(std::string(head) + loop, gcn::Gen::gfx8);
    for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(head << d.line << ": " << d.message);
    REQUIRE_MESSAGE(l.kernels.size() == 2, head);
    CHECK(l.kernels[0].name == "k");
    CHECK(l.kernels[0].code.size() == 5);
    REQUIRE(l.kernels[0].labels.size() == 1);
    CHECK(l.kernels[0].labels[0].name == "again");
    CHECK(l.kernels[1].name == "other");
  }
  // What a directive declares is a function, wherever the directive stands.
  const gcn::Listing l =
      gcn::parse(std::string(loop) + "  .type again ,@function\n", gcn::Gen::gfx8);
  REQUIRE(l.kernels.size() == 3);
  CHECK(l.kernels[1].name == "again");
}

TEST_CASE("gcn symbols: a plain label that code branches to is a place in the kernel") {
  const gcn::Listing l = gcn::parse(
      ".globl k\nk:\n  s_cbranch_scc0 done\n  s_endpgm\ndone:\n  s_nop 0\n  s_endpgm\n"
      "next:\n  s_branch next\n",
      gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(l.kernels.size() == 2);
  CHECK(l.kernels[0].code.size() == 4);
  CHECK(l.kernels[1].name == "next");
}
