// What kernels print: CUDA's printf out of PTX, OpenCL's out of GCN code. Cubins: tests/pairs.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lanewise/queue.hpp"
#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Buffer;
using lanewise::Result;

namespace {

/// The order of lanes is nobody's promise.
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  std::ranges::sort(all);
  return all;
}

/// Each lane reserves a record as the device library does, by compare and swap, and fills it.
constexpr const char* kGcn = R"(
	.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
	s_load_dwordx2 s[2:3], s[0:1], 0x8
	s_mov_b64 s[4:5], 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v1, s2
	v_mov_b32_e32 v2, s3
	flat_load_dword v5, v[1:2]
	s_waitcnt vmcnt(0) lgkmcnt(0)
.Lagain:
	v_add_u32_e32 v4, vcc, 12, v5
	flat_atomic_cmpswap v7, v[1:2], v[4:5] glc
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_cmp_eq_u32_e32 vcc, v7, v5
	s_or_b64 s[4:5], vcc, s[4:5]
	v_mov_b32_e32 v5, v7
	s_andn2_b64 exec, exec, s[4:5]
	s_cbranch_execnz .Lagain
	s_or_b64 exec, exec, s[4:5]
	v_add_u32_e32 v8, vcc, v1, v5
	v_addc_u32_e32 v9, vcc, 0, v2, vcc
	v_mov_b32_e32 v10, 7
	v_cvt_f32_u32_e32 v12, v0
	v_mul_f32_e32 v12, 0.5, v12
	v_add_u32_e32 v8, vcc, 8, v8
	v_addc_u32_e32 v9, vcc, 0, v9, vcc
	flat_store_dword v[8:9], v10
	v_add_u32_e32 v8, vcc, 4, v8
	v_addc_u32_e32 v9, vcc, 0, v9, vcc
	flat_store_dword v[8:9], v0
	v_add_u32_e32 v8, vcc, 4, v8
	v_addc_u32_e32 v9, vcc, 0, v9, vcc
	flat_store_dword v[8:9], v12
	s_endpgm
	.section .rodata,#alloc
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 13
		.amdhsa_next_free_sgpr 6
	.end_amdhsa_kernel
	.amdgpu_metadata
amdhsa.kernels:
  - .name: k
    .kernarg_segment_size: 16
    .args:
      - .name: out
        .offset: 0
        .size: 8
        .value_kind: global_buffer
      - .offset: 8
        .size: 8
        .value_kind: hidden_printf_buffer
amdhsa.printf:
  - '1:0:never\n'
  - '7:2:4:4:lane %d\72 %.1f, ''quoted''\n'
amdhsa.version:
  - 1
  - 0
	.end_amdgpu_metadata
)";

}  // namespace

TEST_CASE("printing: CUDA's printf as nvcc compiles it") {
  constexpr int kThreads = 48;
  const char* names[] = {"zero", "one", "two"};
  std::string want = "hello\n";
  for (int t = 0; t < kThreads; ++t) {
    want += fmt::format("{}: {} {:5.2f} [{:<6}] {} 0x{:08x} {} {}%\n", t, names[t % 3], 1.25 * t,
                        names[(t + 1) % 3], static_cast<char>('a' + t % 26), 0xbeef0000U + t,
                        -1234567890123LL * t, 4000000000U + static_cast<uint32_t>(t));
    want += t % 2 == 1 ? fmt::format("odd {} {:g}\n", t, 1.25)
                       : fmt::format("even {:6}|0.000000e+00|\n", t);
  }
  want += "-5 200 1099511627776 0x1234\n     2|0.50    |\n";
  for (const char* variant : {"sm75", "debug"}) {
    CAPTURE(variant);
    const lanewise::Kernel kernel = ptx("printing", variant, "prints");
    for (int launch = 0; launch < 2; ++launch) {  // the second finds an empty buffer
      const Result result = kernel.launch({.grid = {2}, .block = {32}}, kThreads, 1.25F);
      result.check();
      CHECK(lines(result.printed) == lines(want));
    }
    CHECK(kernel.launch({.grid = {1}, .block = {1}}, 0, 1.0F).printed == "hello\n");
  }
}

TEST_CASE("printing: strings as they are at the call, in any memory; formats chosen at run time") {
  constexpr int kThreads = 40;
  for (const char* file : {"ptx/print_strings.sm75.ptx", "sass/print_strings.cubin"}) {
    const lanewise::Kernel kernel = device().load_file(corpus(file)).kernel("strings");
    for (const int chosen : {0, 1}) {
      CAPTURE(file);
      std::string want;
      for (int t = 0; t < kThreads; ++t) {
        std::string group, own;
        for (int i = 0; i < t % 7; ++i) group += static_cast<char>('a' + (t + i) % 26);
        for (int i = 0; i < t * 3 % 11; ++i) own += static_cast<char>('A' + (t + 2 * i) % 26);
        for (int r = 0; r < 3; ++r) {
          std::string numbers;
          for (int i = 0; i <= r; ++i) numbers += static_cast<char>('0' + (r * 3 + i) % 10);
          want += fmt::format("{} {} [{}] [{:>5}] [{:<6.3}] (null) {:.2f}\n", t, r, group, own,
                              numbers, 1.5 * r);
        }
        want += chosen != 0 ? fmt::format("A {} {} {}\n", own, t, group)
                            : fmt::format("B {} {}\n", own, t);
      }
      const Result result = kernel.launch({.grid = {1}, .block = {kThreads}}, chosen);
      result.check();
      CHECK(lines(result.printed) == lines(want));
    }
    // %*d would be the arguments 32 and 33: as CUDA does, it and what follows is left as it is.
    CHECK(device().load_file(corpus(file)).kernel("many").launch({}, 5).printed ==
          "5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 "
          "%*d %5d|%s %\n31\n");
  }
}

TEST_CASE("printing: more than the buffer holds") {
  const Result result =
      ptx("printing", "sm75", "floods").launch({.grid = {1}, .block = {64}}, 1000);
  result.check();
  const std::vector<std::string> all = lines(result.printed);
  CHECK(std::ranges::count_if(all, [](const std::string& l) { return l.starts_with("(more"); }) ==
        1);
  // 1 MiB less the header, 24 bytes a record
  CHECK(all.size() == ((1 << 20) - 8) / 24 + 1);
  CHECK(std::ranges::adjacent_find(all) == all.end());
}

TEST_CASE("printing: OpenCL's printf through the hidden argument") {
  const lanewise::Kernel kernel = device().load_text(kGcn, lanewise::Isa::gcn).kernel("k");
  Buffer out = device().allocate(64, "out");
  std::string want;
  for (int t = 0; t < 96; ++t) want += fmt::format("lane {}: {:.1f}, 'quoted'\n", t, 0.5 * t);
  for (int launch = 0; launch < 2; ++launch) {
    const Result result = kernel.launch({.grid = {1}, .block = {96}}, out);
    result.check();
    CHECK(lines(result.printed) == lines(want));
  }
}

TEST_CASE("printing: launches of a queue keep what each printed") {
  const lanewise::Kernel kernel = ptx("printing", "sm75", "prints");
  lanewise::Queue queue(device());
  std::vector<lanewise::Event> events;
  for (int n = 0; n < 3; ++n)
    events.push_back(queue.launch(kernel, {.grid = {1}, .block = {1}}, {n == 1 ? 1 : 0, 2.0F}));
  CHECK(events[0].result().printed == "hello\n");
  CHECK(lines(events[1].result().printed).size() == 3);
  CHECK(events[2].result().printed == "hello\n");
}
