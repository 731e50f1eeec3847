// Calls of functions whose address is known, of others by way of a table, recursion, data beside
// the code; directives that would change what a file means.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <random>

#include "runtime/guest/launch_block.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

std::string address(const char* pair, const char* low, const char* high, const std::string& of) {
  return fmt::format(
      "s_getpc_b64 {0}\ns_add_u32 {1}, {1}, {3}@rel32@lo+4\ns_addc_u32 {2}, {2}, {3}@rel32@hi+12\n",
      pair, low, high, of);
}

/// v1 of one lane after `body`, with `functions` behind the kernel and `data` behind the code.
std::vector<uint32_t> results(const std::string& body, const std::string& functions,
                              const std::string& data, uint32_t groups = 1) {
  const std::string text =
      ".text\nk:\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + body +
      "s_lshl_b32 s6, s2, 2\ns_add_u32 s4, s4, s6\ns_addc_u32 s5, s5, 0\nv_mov_b32 v2, s4\n"
      "v_mov_b32 v3, s5\nflat_store_dword v[2:3], v1\ns_endpgm\n" +
      functions + ".section .rodata\n" + data +
      ".amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
      ".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_kernarg_size 8\n"
      ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n";
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx7);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  gcn::LowerResult r = gcn::lower(l);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(!r.module.kernels.empty());
  test::Bench bench;
  std::vector<uint64_t> places;
  for (ir::Global& g : r.module.globals) places.push_back(bench.put(g.init));
  for (const ir::Global& g : r.module.globals) REQUIRE(g.relocs.empty());
  ir::bind_symbols(r.module.kernels[0], [&](const ir::Symbol&) { return places.at(0); });
  const uint64_t at = bench.put(std::vector<uint32_t>(groups, 0xdeadbeef));
  std::vector<std::byte> params(sizeof at);
  std::memcpy(params.data(), &at, sizeof at);
  guest::add_launch_block(r.module.kernels[0], {.grid = {groups, 1, 1}, .block = {64, 1, 1}},
                          params);
  for (const std::byte b : params) bench.arg(b);
  CHECK(bench.run(r.module.kernels[0], groups, 64).fault_count == 0);
  return bench.get<uint32_t>(at, groups);
}

const std::string kTriple =
    "triple:\nv_add_i32 v4, vcc, v1, v1\nv_add_i32 v1, vcc, v4, v1\ns_setpc_b64 s[30:31]\n";
const std::string kNext = "next:\nv_add_i32 v1, vcc, 1, v1\ns_setpc_b64 s[30:31]\n";

std::vector<Diagnostic> errors(const std::string& text) {
  return gcn::parse(text, gcn::Gen::gfx7).diagnostics;
}

}  // namespace

TEST_CASE("functions are called from several places") {
  const std::string call =
      address("s[8:9]", "s8", "s9", "triple") + "s_swappc_b64 s[30:31], s[8:9]\n";
  CHECK(results("v_mov_b32 v1, 5\n" + call, kTriple, "") == std::vector<uint32_t>{15});
  CHECK(results("v_mov_b32 v1, 5\n" + call + "v_add_i32 v1, vcc, 1, v1\n" + call, kTriple, "") ==
        std::vector<uint32_t>{48});
}

TEST_CASE("a call by way of a register leads to any function") {
  // Which of two functions depends on the group.
  const std::string body = address("s[8:9]", "s8", "s9", "triple") +
                           address("s[10:11]", "s10", "s11", "next") +
                           "s_cmp_eq_u32 s2, 0\ns_cselect_b64 s[8:9], s[8:9], s[10:11]\n"
                           "v_mov_b32 v1, 7\ns_swappc_b64 s[30:31], s[8:9]\n";
  CHECK(results(body, kTriple + kNext, "", 3) == std::vector<uint32_t>{21, 8, 8});
}

TEST_CASE("a function leaves the sign of a signed sum in a mask") {
  // The 65th bit of the exact sum: also where 64 bits are too few for it.
  const auto sign = [](const char* factor, const char* high) {
    return results(std::string("v_mov_b32 v1, ") + factor + "\nv_mov_b32 v6, 0\nv_mov_b32 v7, " +
                       high + "\n" + address("s[8:9]", "s8", "s9", "sum") +
                       "s_swappc_b64 s[30:31], s[8:9]\nv_mov_b32 v1, s10\n",
                   "sum:\nv_mad_i64_i32 v[4:5], s[10:11], v1, 5, v[6:7]\ns_setpc_b64 s[30:31]\n",
                   "");
  };
  const std::vector<uint32_t> none = {0}, all = {0xffffffff};
  CHECK(sign("3", "0") == none);
  CHECK(sign("-3", "0") == all);
  CHECK(sign("-3", "0x80000000") == all);
  CHECK(sign("0x7fffffff", "0x7fffffff") == none);
}

TEST_CASE("sums and carries of wide products in a function, against 128 bits of the host") {
  __extension__ using Wide = __int128;
  __extension__ using Unsigned = unsigned __int128;
  std::vector<std::array<uint32_t, 4>> inputs;
  std::mt19937_64 random(64);
  const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
  const uint64_t addends[] = {0,
                              1,
                              0x7fffffffffffffff,
                              0x8000000000000000,
                              0xffffffffffffffff,
                              0xc000000000000000,
                              0x4000000080000000,
                              1 - 0xfffffffe00000001};
  for (const uint32_t a : edges)
    for (const uint32_t b : edges)
      for (const uint64_t c : addends)
        inputs.push_back({a, b, static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32)});
  for (int n = 0; n < 400; ++n) {
    const uint64_t factors = random(), addend = random();
    inputs.push_back({static_cast<uint32_t>(factors), static_cast<uint32_t>(factors >> 32),
                      static_cast<uint32_t>(addend), static_cast<uint32_t>(addend >> 32)});
  }
  std::string data = "numbers:\n";
  std::vector<uint32_t> carries, low, high;
  for (const auto& [a, b, c0, c1] : inputs) {
    data += fmt::format(".long {}, {}, {}, {}\n", a, b, c0, c1);
    const uint64_t addend = uint64_t{c1} << 32 | c0;
    const Wide plus =
        Wide{static_cast<int32_t>(a)} * static_cast<int32_t>(b) + static_cast<int64_t>(addend);
    const Unsigned sum = static_cast<Unsigned>(a) * b + addend;
    carries.push_back(static_cast<uint32_t>(plus >> 64 & 1) | static_cast<uint32_t>(sum >> 64 & 1)
                                                                  << 1);
    low.push_back(static_cast<uint32_t>(plus) ^ static_cast<uint32_t>(sum) * 3);
    high.push_back(static_cast<uint32_t>(plus >> 32) ^ static_cast<uint32_t>(sum >> 32) * 3);
  }
  const std::string body =
      address("s[8:9]", "s8", "s9", "numbers") +
      "s_lshl_b32 s7, s2, 4\ns_add_u32 s8, s8, s7\ns_addc_u32 s9, s9, 0\n"
      "s_load_dwordx4 s[12:15], s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32 v6, s12\nv_mov_b32 v7, s13\nv_mov_b32 v8, s14\nv_mov_b32 v9, s15\n" +
      address("s[8:9]", "s8", "s9", "sums") +
      "s_swappc_b64 s[30:31], s[8:9]\ns_and_b32 s16, s16, 1\ns_and_b32 s18, s18, 1\n"
      "s_lshl_b32 s18, s18, 1\ns_or_b32 s16, s16, s18\n";
  const std::string sums =
      "sums:\nv_mad_i64_i32 v[10:11], s[16:17], v6, v7, v[8:9]\n"
      "v_mad_u64_u32 v[12:13], s[18:19], v6, v7, v[8:9]\ns_setpc_b64 s[30:31]\n";
  const auto run = [&](const std::string& result) {
    return results(body + result, sums, data, static_cast<uint32_t>(inputs.size()));
  };
  CHECK(run("v_mov_b32 v1, s16\n") == carries);
  CHECK(run("v_mul_lo_u32 v12, v12, 3\nv_xor_b32 v1, v10, v12\n") == low);
  CHECK(run("v_mul_lo_u32 v13, v13, 3\nv_xor_b32 v1, v11, v13\n") == high);
}

TEST_CASE("a function calls itself") {
  // 4 + 3 + 2 + 1; the ways back are kept in the lanes of a register.
  const std::string sum =
      "sum:\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc1 .Ldone\ns_mov_b32 m0, s12\nv_writelane_b32 v6, "
      "s30, m0\n"
      "v_writelane_b32 v7, s31, m0\nv_mov_b32 v8, s12\nv_add_i32 v1, vcc, v1, v8\n"
      "s_sub_u32 s12, s12, 1\n" +
      address("s[8:9]", "s8", "s9", "sum") +
      "s_swappc_b64 s[30:31], s[8:9]\ns_add_u32 s12, s12, 1\nv_readlane_b32 s30, v6, s12\n"
      "v_readlane_b32 s31, v7, s12\n.Ldone:\ns_setpc_b64 s[30:31]\n";
  CHECK(results("v_mov_b32 v1, 0\ns_mov_b32 s12, 4\n" + address("s[8:9]", "s8", "s9", "sum") +
                    "s_swappc_b64 s[30:31], s[8:9]\n",
                sum, "") == std::vector<uint32_t>{10});
}

TEST_CASE("data stands behind the code") {
  const std::string data =
      ".p2align 3\nother:\n.byte 1, 2\ntable:\n.p2align 2\n.long 11, -2, 0x33\n.quad 7\n";
  const std::string load =
      address("s[8:9]", "s8", "s9", "table") +
      "s_load_dword s10, s[8:9], 0x{}\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, s10\n";
  const auto at = [&](int n) {
    return results(fmt::format(fmt::runtime(load), n), "",
                   ".p2align 4\ntable:\n.long 11, -2, 0x33\n");
  };
  CHECK(at(0) == std::vector<uint32_t>{11});
  CHECK(at(1) == std::vector<uint32_t>{0xfffffffe});
  CHECK(at(2) == std::vector<uint32_t>{0x33});
}

TEST_CASE("what would change the meaning of a file is an error") {
  for (const char* d : {".rept 3", ".macro m", ".if 0", ".include \"x.s\"", ".subsection 1"}) {
    const auto found = errors(std::string("s_nop 0\n") + d + "\ns_endpgm\n");
    REQUIRE_MESSAGE(found.size() == 1, d);
    CHECK(found[0].line == 2);
  }
  const auto missing = errors("s_add_u32 s0, s0, nowhere@rel32@lo+4\ns_endpgm\n");
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].message.find("nowhere") != std::string::npos);
}

TEST_CASE("a directive that nobody knows is an error where it could put something") {
  for (const char* d : {".kernel_code", ".bundle_align_mode 4", ".nonsense"}) {
    const auto found = errors(std::string("s_nop 0\n") + d + "\ns_endpgm\n");
    REQUIRE_MESSAGE(found.size() == 1, d);
    CHECK(found[0].line == 2);
    CHECK(found[0].message.starts_with("unknown directive"));
  }
  CHECK(errors(".rodata_is_no_directive\ns_endpgm\n").size() == 1);
  CHECK(errors("s_endpgm\n.section .rodata\n.flaot 1.0\n").size() == 1);
  CHECK(errors("s_endpgm\n.section .rodata\n.byte 1 2\n").size() == 1);
  CHECK(errors("s_endpgm\n.section .rodata\ns_endpgm\n").size() == 1);
  // What is not loaded may hold anything.
  CHECK(errors("s_endpgm\n.section .debug_str\n.uleb128 3\n.float 1.0\n").empty());
  CHECK(errors(".globl k\n.type k,@function\nk:\n.cfi_startproc\n.loc 1 2 3\ns_endpgm\n"
               ".size k, 4\n.ident \"x\"\n.addrsig\n.end\nnot read at all\n")
            .empty());
}

TEST_CASE("alignment moves what stands behind it") {
  // Code that runs into it is padded with s_nop, or with the fill where one is named.
  const gcn::Listing l = gcn::parse(
      "a:\ns_nop 1\n.p2align 4\ns_nop 2\n.balign 16, 0x7e\ninner:\ns_branch inner\n"
      ".p2align 5,,8\ns_endpgm\n.p2align 8\nb:\ns_endpgm\n",
      gcn::Gen::gfx7);
  REQUIRE(l.ok());
  REQUIRE(l.kernels.size() == 2);
  const auto& code = l.kernels[0].code;
  REQUIRE(code.size() == 10);
  CHECK(gcn::print(code[3]) == "s_nop 0");
  CHECK(code[4].pc == 16);
  CHECK(code[4].operands[0].value == 2);
  CHECK(gcn::encode(code[7])[0] == 0x7e7e7e7e);
  CHECK(code[8].pc == 32);
  CHECK(code[8].operands[0].value == 0xffffffff);
  CHECK(code[9].pc == 36);
  CHECK(l.kernels[0].base == 0);
  CHECK(l.kernels[1].base == 256);
  for (const char* bad : {".p2align 32", ".balign 3", ".p2align 4 5", ".balign 4,,x"})
    CHECK_MESSAGE(errors(std::string("s_nop 0\n") + bad + "\ns_endpgm\n").size() == 1, bad);
  // In data `.align` counts bytes, and the fill is what it says.
  CHECK(results(address("s[8:9]", "s8", "s9", "table") +
                    "s_load_dword s10, s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, s10\n",
                "", "table:\n.byte 1\n.align 2\n.byte 2\n.balign 8, 0xee\n.long 3\n") ==
        std::vector<uint32_t>{0xee020001});
}

TEST_CASE("code is read like data") {
  const std::string load =
      "s_getpc_b64 s[8:9]\ns_load_dword s10, s[8:9], 0x0\ns_waitcnt "
      "lgkmcnt(0)\nv_mov_b32 v1, s10\n";
  CHECK(results(load, "", "") == std::vector<uint32_t>{0xc0050900});
  CHECK(results(address("s[8:9]", "s8", "s9", "beside") +
                    "s_load_dword s10, s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, s10\n",
                ".p2align 8\nbeside:\n.long 0x12345\n", "") == std::vector<uint32_t>{0x12345});
}

TEST_CASE("a word that is no instruction refuses its own kernel, where it is reached") {
  const gcn::Listing l = gcn::parse(
      ".text\na:\ns_endpgm\n.long 0xffffffff\nb:\n.long 0xd2feffff, 0\ns_endpgm\nc:\n.long "
      "0xbf810000\n",
      gcn::Gen::gfx6);
  REQUIRE(l.ok());
  REQUIRE(l.kernels.size() == 3);
  const gcn::LowerResult r = gcn::lower(l);
  REQUIRE(r.rejected.size() == 1);
  CHECK(r.rejected[0].name == "b");
  CHECK(r.rejected[0].diagnostics[0].message.find("VOP3") != std::string::npos);
  CHECK(r.module.kernels.size() == 2);
  // The size of an unknown instruction is its encoding's; the next one stands at its place.
  CHECK(l.kernels[1].code[1].pc == 8);
  CHECK(gcn::print(l.kernels[1].code[0]) == ".long 0xd2feffff, 0x0");
}

TEST_CASE("names that .set gives to numbers") {
  CHECK(results(".set seven, 7\n.equ same, seven\nv_mov_b32 v1, same\n", "", "") ==
        std::vector<uint32_t>{7});
  CHECK(results(".set n, -3\nv_mov_b32 v1, n\n.set n, 0x12345\nv_add_i32 v1, vcc, n, v1\n", "",
                "") == std::vector<uint32_t>{0x12342});
  CHECK(results(".set sum, 1 + 2*3\nv_mov_b32 v1, sum\n", "", "") == std::vector<uint32_t>{7});
  // Places behind the line as well.
  CHECK(results("s_nop 0\n.Lhere:\n.set size, .-.Lhere\nv_mov_b32 v1, size\n", "", "") ==
        std::vector<uint32_t>{0});
  CHECK(results(".Lhere:\n.set size, .Lend-.Lhere\ns_mov_b32 s6, size\nv_mov_b32 v1, s6\n.Lend:\n",
                "", "") == std::vector<uint32_t>{12});
}

TEST_CASE("control goes on into what stands behind a function's end") {
  const std::string body = "v_mov_b32 v1, 5\ns_branch part\n.Lback:\n";
  const std::string part = "part:\nv_add_i32 v1, vcc, 1, v1\n";
  const std::string rest = "rest:\nv_add_i32 v1, vcc, 2, v1\ns_branch .Lback\n";
  const std::string names = ".type part,@function\n.type rest,@function\n";
  CHECK(results(body, names + part + rest, "") == std::vector<uint32_t>{8});
  CHECK(results(body, names + part + ".p2align 8\n" + rest, "") == std::vector<uint32_t>{8});
  // What stands there may be a kernel.
  const std::string kernels =
      ".amdhsa_kernel part\n.amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr "
      "1\n.end_amdhsa_kernel\n"
      ".amdhsa_kernel rest\n.amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr "
      "1\n.end_amdhsa_kernel\n";
  CHECK(results(body, part + rest, kernels) == std::vector<uint32_t>{8});
  // Behind the last instruction of the file it ends: nothing is written.
  CHECK(results("v_mov_b32 v1, 5\ns_branch part\n", names + part, "") ==
        std::vector<uint32_t>{0xdeadbeef});
  // The code that is first in the file is not what stands behind the last.
  const gcn::Listing l =
      gcn::parse(".globl first\n.globl last\nfirst:\ns_trap 1\ns_endpgm\nlast:\nv_mov_b32 v1, 5\n",
                 gcn::Gen::gfx7);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  const gcn::LowerResult r = gcn::lower(l);
  REQUIRE(r.module.kernels.size() == 2);
  for (const ir::Block& b : r.module.kernels[1].blocks)
    for (const ir::Inst& i : b.insts) CHECK(i.op != ir::Op::trap);
}
