// Scalar registers that compilers keep in lanes of vector registers.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
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
  gcn::use_scalars_for_lane_slots(kernel);
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
  Texts all = kLanes;
  all.insert(all.end(), moves.begin(), moves.end());
  CHECK(rewritten(kSave + kRestore + named) == all);
}
