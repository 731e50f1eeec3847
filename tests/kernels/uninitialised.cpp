// Shared and local memory start as zeros: nothing of an earlier kernel, or of the host, is found
// there.
#include <fmt/format.h>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Buffer;
using lanewise::LaunchOptions;

namespace {

/// Every lane looks at its words of the `what` array, gives their sum, then leaves marks in them.
/// `vote`: the same in a kernel whose waves stay together.
std::string reader(const std::string& declaration, uint32_t words, const std::string& space,
                   bool vote) {
  std::string text = ".version 7.8\n.target sm_75\n.address_size 64\n";
  if (space == "shared") text += declaration;
  text += ".visible .entry k(.param .u64 out)\n{\n";
  if (space == "local") text += declaration;
  text +=
      "  .reg .b64 %rd<5>; .reg .b32 %r<12>; .reg .pred %p<3>;\n"
      "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;\n"
      "  mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, %r2, %r1; mul.wide.u32 %rd2, %r4, 4;\n"
      "  add.s64 %rd1, %rd1, %rd2; mov.u32 %r5, 0; mov.u32 %r6, ";
  text += space == "shared" ? "%r1" : "0";
  text += fmt::format(
      ";\n"
      "AGAIN: setp.ge.u32 %p1, %r6, {0}; @%p1 bra DONE;\n"
      "  mov.u32 %r7, what; shl.b32 %r8, %r6, 2; add.s32 %r7, %r7, %r8;\n"
      "  ld.{1}.u32 %r9, [%r7]; or.b32 %r5, %r5, %r9; st.{1}.u32 [%r7], 0xdeadbeef;\n"
      "  add.s32 %r6, %r6, {2}; bra AGAIN;\nDONE:\n",
      words, space, space == "shared" ? "%r2" : "1");
  if (vote) text += "  setp.ne.u32 %p2, %r5, 0; vote.sync.ballot.b32 %r5, %p2, 0xffffffff;\n";
  return text + "  st.global.u32 [%rd1], %r5; ret;\n}\n";
}

void expect_zeros(const std::string& text, const LaunchOptions& options) {
  CAPTURE(text);
  lanewise::Kernel kernel = device().load_text(text, lanewise::Isa::ptx).kernel();
  const uint32_t lanes = options.grid.x * options.block.x;
  for (int launch = 0; launch < 2; ++launch) {
    Buffer out = device().buffer(std::vector<uint32_t>(lanes, 7));
    kernel.launch(options, out).check();
    check_equal(out.read<uint32_t>(), std::vector<uint32_t>(lanes, 0));
  }
}

}  // namespace

TEST_CASE("uninitialised: shared memory is zero in every group") {
  for (const bool vote : {false, true}) {
    for (const uint32_t block : {1U, 32U, 96U}) {
      if (vote && block == 1) continue;
      expect_zeros(reader(".shared .align 4 .b8 what[4004];\n", 1001, "shared", vote),
                   {.grid = {5}, .block = {block}});
    }
    // More than a device has on chip: in memory, where groups follow each other in a slot.
    LaunchOptions large{.grid = {300}, .block = {64}};
    large.dynamic_shared = 65536;
    expect_zeros(reader(".extern .shared .align 4 .b8 what[];\n", 16384, "shared", vote), large);
  }
}

TEST_CASE("uninitialised: local memory is zero in every lane") {
  for (const bool vote : {false, true})
    expect_zeros(reader("  .local .align 4 .b8 what[204];\n", 51, "local", vote),
                 {.grid = {3}, .block = {64}});
}

TEST_CASE(
    "uninitialised: reserved shared memory is zero, behind all other, and nothing to report") {
  // Lanes write static, dynamic and reserved memory, then read what they wrote.
  const std::string text =
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".extern .shared .align 4 .b8 dynamic[];\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      "  .shared .align 4 .b8 fixed[132];\n"
      "  .reg .b64 %rd<3>; .reg .b32 %r<16>;\n"
      "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16;\n"
      "  add.s64 %rd1, %rd1, %rd2; shl.b32 %r2, %r1, 2;\n"
      "  mov.u32 %r3, fixed; add.s32 %r3, %r3, %r2; mov.u32 %r4, dynamic; add.s32 %r4, %r4, %r2;\n"
      "  mov.u32 %r5, %reserved_smem_offset_1; add.s32 %r5, %r5, %r2;\n"
      "  mov.u32 %r6, %reserved_smem_offset_end; sub.s32 %r6, %r6, %r2;\n"
      "  or.b32 %r7, %r1, 0x100; or.b32 %r8, %r1, 0x200; or.b32 %r9, %r1, 0x300;\n"
      "  st.shared.u32 [%r3], %r7; st.shared.u32 [%r4], %r8; st.shared.u32 [%r6+-4], %r9;\n"
      "  red.shared.or.b32 [%r5], 0x400; bar.sync 0;\n"
      "  ld.shared.u32 %r10, [%r3]; ld.shared.u32 %r11, [%r4]; ld.shared.u32 %r12, [%r5];\n"
      "  ld.shared.u32 %r13, [%r6+-4]; mov.u32 %r14, %reserved_smem_offset_begin;\n"
      "  mov.u32 %r15, %total_smem_size; sub.s32 %r14, %r14, %r15; or.b32 %r13, %r13, %r14;\n"
      "  st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13}; ret;\n}\n";
  lanewise::Kernel kernel = device().load_text(text, lanewise::Isa::ptx).kernel();
  std::vector<uint32_t> expected;
  for (uint32_t lane = 0; lane < 32; ++lane)
    expected.insert(expected.end(), {0x100 | lane, 0x200 | lane, 0x400, 0x300 | lane});
  for (const char* check : {"none", "init"}) {
    LaunchOptions options{.grid = {2}, .block = {32}};
    options.dynamic_shared = 128;  // behind 144 bytes that are fixed
    options.policies["check"] = check;
    Buffer out = device().buffer(std::vector<uint32_t>(expected.size()));
    kernel.launch(options, out).check();
    check_equal(out.read<uint32_t>(), expected);
  }
}
