// Scalar registers that compilers keep in lanes of vector registers.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/lowering/analysis/calls.hpp"
#include "runtime/isa/gcn/lowering/analysis/lane_slots.hpp"

using namespace lanewise;

namespace {

constexpr const char* kHead = "s_mov_b32 s4, 1\ns_mov_b32 s5, 2\n";

/// What becomes of these instructions in a kernel with a descriptor.
std::vector<std::string> rewritten(const std::string& body, bool described = true) {
  const gcn::Listing l = gcn::parse(kHead + body + "s_endpgm\n", gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  gcn::Kernel kernel = l.kernels.at(0);
  if (described) kernel.state = {};
  const size_t count = kernel.code.size();
  gcn::use_scalars_for_lane_slots(kernel, gcn::find_call_targets(kernel));
  CHECK(kernel.code.size() == count);
  std::vector<std::string> out;
  for (size_t n = 2; n + 1 < kernel.code.size(); ++n)
    out.push_back(gcn::print(kernel.code[n], kernel.gen));
  return out;
}

using Texts = std::vector<std::string>;

const std::string kSave = "v_writelane_b32 v9, s4, 6\nv_writelane_b32 v9, s5, 7\n";
const std::string kRestore = "v_readlane_b32 s8, v9, 6\nv_readlane_b32 s9, v9, 7\n";
const Texts kLanes = {"v_writelane_b32 v9, s4, 6", "v_writelane_b32 v9, s5, 7",
                      "v_readlane_b32 s8, v9, 6", "v_readlane_b32 s9, v9, 7"};

Texts with(const Texts& first, const std::string& last) {
  Texts out = first;
  out.push_back(last);
  return out;
}

}  // namespace

TEST_CASE("lanes that keep a pair of scalar registers are a pair") {
  CHECK(rewritten(kSave + kRestore) ==
        Texts{"s_mov_b64 s[0:1], s[4:5]", "s_nop 0", "s_mov_b64 s[8:9], s[0:1]", "s_nop 0"});
  CHECK(rewritten("v_writelane_b32 v9, s4, 0\nv_writelane_b32 v9, 17, 63\n"
                  "v_readlane_b32 s5, v9, 63\nv_readlane_b32 vcc_lo, v9, 0\n") ==
        Texts{"s_mov_b32 s0, s4", "s_mov_b32 s1, 17", "s_mov_b32 s5, s1", "s_mov_b32 vcc_lo, s0"});
  // One word of the pair alone.
  CHECK(rewritten(kSave + "v_readlane_b32 s8, v9, 7\n") ==
        Texts{"s_mov_b64 s[0:1], s[4:5]", "s_nop 0", "s_mov_b32 s8, s1"});
  // An odd register begins no pair, nor do lanes that overlap.
  CHECK(rewritten("v_readlane_b32 s5, v9, 2\nv_readlane_b32 s6, v9, 3\n") ==
        Texts{"s_mov_b32 s5, s0", "s_mov_b32 s6, s1"});
  CHECK(rewritten(kSave + "v_readlane_b32 s8, v9, 7\nv_readlane_b32 s9, v9, 8\n") ==
        Texts{"s_mov_b32 s0, s4", "s_mov_b32 s1, s5", "s_mov_b32 s8, s1", "s_mov_b32 s9, s2"});
  // Somebody may come in between the words.
  CHECK(rewritten("v_readlane_b32 s8, v9, 6\nbetween:\nv_readlane_b32 s9, v9, 7\n"
                  "s_cbranch_scc0 between\n") ==
        Texts{"s_mov_b32 s8, s0", "s_mov_b32 s9, s1", "s_cbranch_scc0 between"});
}

TEST_CASE("a vector register that serves something else keeps its lanes") {
  CHECK(rewritten(kSave + kRestore, false) == kLanes);
  for (const char* other :
       {"v_mov_b32_e32 v3, v9", "v_mov_b32_e32 v9, 0", "v_readlane_b32 s4, v9, m0",
        "v_readfirstlane_b32 s4, v9", "buffer_load_dwordx2 v[8:9], off, s[12:15], 0",
        "v_movrels_b32_e32 v3, v4"})
    CHECK(rewritten(kSave + kRestore + other + "\n") == with(kLanes, other));
  CHECK(rewritten("v_readlane_b32 s4, v0, 3\n") == Texts{"v_readlane_b32 s4, v0, 3"});  // the item
  std::string named;
  Texts moves;
  for (int n = 0; n < 102; ++n) {
    moves.push_back("s_mov_b32 s" + std::to_string(n) + ", 0");
    named += moves.back() + "\n";
  }
  // Registers that no program can name: their texts are those of the accesses.
  gcn::Listing l = gcn::parse(kHead + kSave + kRestore + named + "s_endpgm\n", gcn::Gen::gfx8);
  l.kernels[0].state = {};
  gcn::use_scalars_for_lane_slots(l.kernels[0], gcn::find_call_targets(l.kernels[0]));
  const gcn::Instruction& save = l.kernels[0].code[2];
  CHECK(save.row->name == "s_mov_b64");
  CHECK(save.operands[0].code == gcn::kSlot0);
  CHECK(save.text == "v_writelane_b32 v9, s4, 6");
}

namespace {

/// The code of a kernel that calls a function with this body.
gcn::Kernel with_callee(const std::string& body, const std::string& caller) {
  const std::string text =
      ".text\nk:\ns_getpc_b64 s[12:13]\n"
      "s_add_u32 s12, s12, callee@rel32@lo+4\n"
      "s_addc_u32 s13, s13, callee@rel32@hi+12\n"
      "s_swappc_b64 s[30:31], s[12:13]\n" +
      caller + "s_endpgm\ncallee:\n" + body +
      ".section .rodata\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 1\n"
      ".amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n";
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  gcn::Kernel kernel = gcn::with_functions(l.kernels.at(0), l);
  const gcn::CallTargets calls = gcn::keep_reached(kernel);
  REQUIRE(kernel.functions.size() == 1);
  gcn::use_scalars_for_lane_slots(kernel, calls);
  return kernel;
}
/// Whether the lanes of v9 are scalar registers there.
bool function_owns(const std::string& body, const std::string& caller = "") {
  return std::ranges::none_of(with_callee(body, caller).code, [](const gcn::Instruction& i) {
    return i.row->name == "v_writelane_b32";
  });
}

const std::string kOn = "s_or_saveexec_b64 s[4:5], -1\n", kBack = "s_mov_b64 exec, s[4:5]\n";
const std::string kStore = "buffer_store_dword v9, off, s[0:3], s32 offset:8\n";
const std::string kLoad = "buffer_load_dword v9, off, s[0:3], s32 offset:8\n";
const std::string kUse = "v_writelane_b32 v9, s30, 0\nv_readlane_b32 s30, v9, 0\n";
const std::string kReturn = "s_setpc_b64 s[30:31]\n";

}  // namespace

TEST_CASE("a function that saves and restores a vector register owns its lanes") {
  const std::string in = kOn + kStore + kBack, out = kOn + kLoad + kBack + kReturn;
  const std::string other = "v_mov_b32_e32 v9, 1\n";  // the caller's own use
  CHECK(function_owns(in + kUse + out, other));
  // A return that does not restore it; not all lanes; another place; a use as a vector register.
  CHECK_FALSE(function_owns(in + kUse + "s_cbranch_scc0 on\n" + kReturn + "on:\n" + out, other));
  CHECK_FALSE(function_owns(kStore + kUse + kLoad + kReturn, other));
  CHECK_FALSE(function_owns(
      in + kUse + kOn + "buffer_load_dword v9, off, s[0:3], s32 offset:4\n" + kBack + kReturn,
      other));
  CHECK_FALSE(function_owns(in + kUse + "v_mov_b32_e32 v3, v9\n" + out, other));
  CHECK_FALSE(function_owns(kUse + in + out, other));
  // It calls itself: each call has lanes of its own.
  CHECK_FALSE(function_owns(in + kUse + "s_swappc_b64 s[30:31], s[12:13]\n" + out, other));
}

TEST_CASE("a function that keeps nothing in a vector register does not save it") {
  const auto texts = [](const std::string& body) {
    const gcn::Kernel kernel = with_callee(body, "v_mov_b32_e32 v9, 1\nv_mov_b32_e32 v8, 1\n");
    Texts out;
    for (size_t n = kernel.functions[0].index; n < kernel.code.size(); ++n)
      out.push_back(gcn::print(kernel.code[n], kernel.gen));
    return out;
  };
  const std::string wait = "s_waitcnt vmcnt(0)\n";
  CHECK(texts(kOn + kStore + wait + kBack + kUse + kOn + kLoad + kBack + kReturn) ==
        Texts{"s_mov_b64 s[4:5], exec", "s_nop 0", "s_waitcnt vmcnt(0)", "s_cmp_eq_u32 0, 0",
              "s_mov_b32 s6, s30", "s_mov_b32 s30, s6", "s_mov_b64 s[4:5], exec", "s_nop 0",
              "s_cmp_eq_u32 0, 0", "s_setpc_b64 s[30:31]"});
  // Another register is saved at the same time.
  const std::string more = "buffer_store_dword v8, off, s[0:3], s32 offset:4\n";
  const Texts both = texts(kOn + more + kStore + kBack + kUse + kOn + kLoad + kBack + kReturn);
  CHECK(Texts(both.begin(), both.begin() + 4) ==
        Texts{"s_or_saveexec_b64 s[4:5], -1", "buffer_store_dword v8, off, s[0:3], s32 offset:4",
              "s_nop 0", "s_mov_b64 exec, s[4:5]"});
}

TEST_CASE("a pair may have lanes of two vector registers") {
  CHECK(rewritten("v_writelane_b32 v9, s4, 63\nv_writelane_b32 v10, s5, 0\n"
                  "v_readlane_b32 s8, v9, 63\nv_readlane_b32 s9, v10, 0\n") ==
        Texts{"s_mov_b64 s[0:1], s[4:5]", "s_nop 0", "s_mov_b64 s[8:9], s[0:1]", "s_nop 0"});
}
