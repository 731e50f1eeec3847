// The memory model of HSA, as compilers make GCN code of it, under schedules with weak memory.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

constexpr uint32_t kRounds = 1000, kLaunches = 10, kWords = 8;

/// Each thread is a group of one lane. v[4:5]: the word x of its round, v[6:7]: y, v[8:9] and
/// v[10:11]: where its results in v20 and v21 go; v1 is 1.
std::string kernel_of(const std::vector<std::string>& threads) {
  std::string text = R"(.text
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  s_and_b32 s2, s6, 3
  s_lshr_b32 s3, s6, 2
  s_lshl_b32 s3, s3, 5
  v_mov_b32 v1, 1
  s_waitcnt lgkmcnt(0)
)";
  const auto address = [&](int reg, const std::string& offset) {
    const std::string low = "v" + std::to_string(reg), high = "v" + std::to_string(reg + 1);
    text += "  v_mov_b32 " + low + ", " + offset + "\n  v_add_u32 " + low + ", vcc, s3, " + low +
            "\n  v_add_u32 " + low + ", vcc, s0, " + low + "\n  v_mov_b32 " + high +
            ", s1\n  v_addc_u32 " + high + ", vcc, 0, " + high + ", vcc\n";
  };
  address(4, "0");
  address(6, "4");
  address(8, "8");
  address(10, "12");
  address(12, "16");
  address(14, "20");
  for (size_t n = 0; n < threads.size(); ++n) {
    const std::string number = std::to_string(n);
    text += "  s_cmp_lg_u32 s2, " + number + "\n  s_cbranch_scc1 next" + number + "\n" +
            threads[n] + "  s_endpgm\nnext" + number + ":\n";
  }
  return text + R"(  s_endpgm
.section .rodata,#alloc
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 24
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
)";
}

/// How many of 10,000 rounds left these results.
uint32_t shown(const std::vector<std::string>& threads, const std::vector<uint32_t>& results) {
  const gcn::Listing listing = gcn::parse(kernel_of(threads));
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  const gcn::LowerResult lowered = gcn::lower(listing);
  REQUIRE(lowered.module.kernels.size() == 1);
  test::Bench bench;
  const std::vector<uint32_t> zeros(kRounds * kWords);
  const uint64_t memory = bench.put(zeros);
  bench.arg(memory);
  uint32_t count = 0;
  for (uint32_t launch = 0; launch < kLaunches; ++launch) {
    bench.write(memory, zeros);
    const auto result = bench.run(lowered.module.kernels[0], 4 * kRounds, 1,
                                  "random:" + std::to_string(launch + 8) + ",weak");
    REQUIRE(result.faults.empty());
    const auto words = bench.get<uint32_t>(memory, zeros.size());
    for (size_t at = 0; at < words.size(); at += kWords)
      count += std::equal(results.begin(), results.end(), words.begin() + at + 2) ? 1 : 0;
  }
  return count;
}

const std::string kWait = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
std::string store(const char* at) {
  return "  flat_store_dword " + std::string(at) + ", v1\n";
}
std::string load(const char* to, const char* from, const char* how) {
  return "  flat_load_dword " + std::string(to) + ", " + from + how + "\n" + kWait;
}
/// The results of a thread's loads in v20 and v21.
std::string keep(const char* first, const char* second) {
  std::string text = "  flat_store_dword " + std::string(first) + ", v20\n";
  if (*second != '\0') text += "  flat_store_dword " + std::string(second) + ", v21\n";
  return text;
}
constexpr const char *kX = "v[4:5]", *kY = "v[6:7]", *kFirst = "v[8:9]", *kSecond = "v[10:11]",
                     *kThird = "v[12:13]", *kFourth = "v[14:15]";

}  // namespace

TEST_CASE("gcn litmus: a message that is released and acquired comes whole") {
  const std::string writer = store(kX) + kWait + store(kY);
  const auto reader = [&](const char* how, const std::string& acquire) {
    return load("v20", kY, how) + acquire + load("v21", kX, "") + keep(kFirst, kSecond);
  };
  CHECK(shown({writer, reader(" glc", "  buffer_wbinvl1_vol\n")}, {1, 0}) == 0);
  CHECK(shown({writer, reader("", "")}, {1, 0}) > 0);  // the first level may have an old x
}

TEST_CASE("gcn litmus: sequential atomics, and old values of plain loads") {
  const auto side = [](const char* own, const char* other, const char* how, const char* result) {
    return kWait + store(own) + kWait + load("v20", other, how) + keep(result, "");
  };
  CHECK(shown({side(kX, kY, " glc", kFirst), side(kY, kX, " glc", kSecond)}, {1, 1}) > 0);
  CHECK(shown({side(kX, kY, " glc", kFirst), side(kY, kX, " glc", kSecond)}, {0, 0}) == 0);
  CHECK(shown({side(kX, kY, "", kFirst), side(kY, kX, "", kSecond)}, {0, 0}) > 0);
  const auto readers = [](const char* how) {
    return std::vector<std::string>{
        store(kX), store(kY), load("v20", kX, how) + load("v21", kY, how) + keep(kFirst, kSecond),
        load("v20", kY, how) + load("v21", kX, how) + keep(kThird, kFourth)};
  };
  CHECK(shown(readers(" glc"), {1, 0, 1, 0}) == 0);
  CHECK(shown(readers(""), {1, 0, 1, 0}) > 0);
}

TEST_CASE("gcn litmus: reads of one word are in its order") {
  const std::string reader = load("v20", kX, "") + load("v21", kX, "") + keep(kFirst, kSecond);
  CHECK(shown({store(kX), reader}, {1, 0}) == 0);
  CHECK(shown({store(kX), reader}, {0, 1}) > 0);
}
