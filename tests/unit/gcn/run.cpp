// GCN kernels on the reference engine, against values computed here.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using test::Bench;

namespace {

ir::Module module_of(std::string_view text) {
  const gcn::Listing listing = gcn::parse(text);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(listing.ok());
  gcn::LowerResult r = gcn::lower(listing);
  for (const Diagnostic& d : r.diagnostics)
    if (!d.warning) FAIL_CHECK(d.line << ": " << d.message);
  return std::move(r.module);
}

std::string kernel_file(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/gcn/" + name);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The body sees s[8:11] = a descriptor over 64 words `in` (iota * 3), s[4:7] over `out`, v0 =
/// lane, v1 = 4 * lane, and leaves its result in v2, which all lanes of `exec` store.
std::vector<uint32_t> outputs(const std::string& body, uint32_t word1 = 0, uint32_t records = 256,
                              uint32_t lanes = 64) {
  const ir::Module m = module_of(
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_load_dwordx4 s[8:11], s[0:1], 0x4\n"
      "s_mov_b32 s6, -1\ns_mov_b32 s7, 0xf000\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 1\n"
      "s_waitcnt lgkmcnt(0)\n" +
      body + "buffer_store_dword v2, v1, s[4:7], 0 offen\ns_endpgm\n");
  for (const std::string& defect : ir::verify(m.kernels[0])) FAIL_CHECK(defect);
  Bench bench;
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = i * 3;
  const uint64_t out = bench.put(std::vector<uint32_t>(64, 0xdeadbeef));
  const uint64_t base = bench.put(in);
  bench.arg(out).arg(uint64_t{0}).arg(static_cast<uint32_t>(base)).arg(word1).arg(records);
  bench.arg(0xf000U);
  CHECK(bench.run(m.kernels[0], 1, lanes).fault_count == 0);
  return bench.get<uint32_t>(out, 64);
}

}  // namespace

TEST_CASE("compiled saxpy and vec4 copy run unchanged") {
  const ir::Module m = module_of(kernel_file("k01_saxpy.gfx600.s"));
  const uint32_t n = 1000;
  std::vector<float> x(n), y(n);
  for (uint32_t i = 0; i < n; ++i) {
    x[i] = 0.1F * static_cast<float>(i);
    y[i] = 7.0F - static_cast<float>(i) / 3;
  }
  Bench bench;
  const uint64_t ys = bench.put(y), xs = bench.put(x);
  bench.arg(ys).arg(xs).arg(2.5F).arg(n);
  CHECK(bench.run(m.kernels[0], 4, 256).fault_count == 0);
  const auto result = bench.get<float>(ys, n);
  for (uint32_t i = 0; i < n; ++i) {
    const float product = x[i] * 2.5F;  // v_mac rounds twice
    CHECK(result[i] == product + y[i]);
  }
  const ir::Module copy = module_of(kernel_file("k11_vec4.gfx600.s"));
  Bench second;
  std::vector<uint32_t> words(1024);
  for (uint32_t i = 0; i < 1024; ++i) words[i] = i * i;
  const uint64_t from = second.put(words), to = second.put(std::vector<uint32_t>(1024));
  for (const ir::Param& p : copy.kernels[0].params) CHECK(p.pointer);
  second.arg(from).arg(to);
  CHECK(second.run(copy.kernels[0], 1, 256).fault_count == 0);
  CHECK(second.get<uint32_t>(to, 1024) == words);
}

TEST_CASE("offen, idxen, both and addr64 address the same words") {
  const char* bodies[] = {"buffer_load_dword v2, v1, s[8:11], 0 offen\n",
                          "buffer_load_dword v2, v0, s[8:11], 0 idxen\n",
                          "v_mov_b32 v4, v0\nv_mov_b32 v5, 0\n"
                          "buffer_load_dword v2, v[4:5], s[8:11], 0 idxen offen\n",
                          "v_mov_b32 v4, v1\nv_mov_b32 v5, 0\n"
                          "buffer_load_dword v2, v[4:5], s[8:11], 0 addr64\n"};
  const uint32_t strides[] = {0, 4, 4, 0};
  for (int n = 0; n < 4; ++n) {
    const auto out = outputs(bodies[n], strides[n] << 16, n == 0 ? 256 : n == 3 ? 0 : 64);
    for (uint32_t lane = 0; lane < 64; ++lane) CHECK(out[lane] == lane * 3);
  }
}

TEST_CASE("out of range loads give 0 and stores are dropped, without a fault") {
  const auto clipped = outputs("buffer_load_dword v2, v1, s[8:11], 0 offen\n", 0, 40);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(clipped[lane] == (lane < 10 ? lane * 3 : 0));
  // Dwords of a wide load are checked one by one: the last one of lane 9 is out.
  const auto pairs = outputs(
      "buffer_load_dwordx2 v[2:3], v1, s[8:11], 0 offen\n"
      "v_mov_b32 v2, v3\n",
      0, 40);
  CHECK(pairs[8] == 27);
  CHECK(pairs[9] == 0);
  const auto dropped = outputs("s_mov_b32 s6, 20\n");
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(dropped[lane] == (lane < 5 ? 1 : 0xdeadbeef));
  // SOFFSET beyond the size leaves nothing in range.
  const auto beyond =
      outputs("s_movk_i32 s12, 0x200\nbuffer_load_dword v2, v1, s[8:11], s12 offen\n");
  CHECK(beyond[0] == 0);
}

TEST_CASE("partial EXEC: constants, saveexec with execz, partial waves") {
  const auto constant = outputs("s_mov_b64 exec, 0xff0\nv_mov_b32 v2, 7\n");
  for (uint32_t lane = 0; lane < 64; ++lane)
    CHECK(constant[lane] == (lane >= 4 && lane < 12 ? 7 : 0xdeadbeef));
  const auto branch = outputs(
      "v_cmp_gt_u32 vcc, 20, v0\ns_and_saveexec_b64 s[12:13], vcc\ns_cbranch_execz .Lskip\n"
      "v_cmp_ne_u32 s[14:15], v0, 3\ns_and_saveexec_b64 s[16:17], s[14:15]\nv_add_i32 v2, vcc, 5, "
      "v0\n"
      "s_or_b64 exec, exec, s[16:17]\n.Lskip:\ns_or_b64 exec, exec, s[12:13]\n"
      "v_cmp_ne_u32 s[12:13], v0, 3\nv_cndmask_b32_e64 v2, 33, v2, s[12:13]\n");
  for (uint32_t lane = 0; lane < 64; ++lane)
    CHECK(branch[lane] == (lane == 3 ? 33 : lane < 20 ? lane + 5 : 1));
  const auto partial = outputs("v_add_i32 v2, vcc, v0, v2\n", 0, 256, 40);
  CHECK(partial[39] == 40);
  CHECK(partial[40] == 0xdeadbeef);
}

TEST_CASE("one word of a mask is written: the other stays what it was") {
  const auto chosen = [](const std::string& write) {
    return outputs("v_cmp_gt_u32 vcc, 40, v0\n" + write + "v_cndmask_b32_e64 v2, 3, 7, vcc\n");
  };
  const auto high = chosen("s_mov_b32 vcc_hi, 5\n"), low = chosen("s_mov_b32 vcc_lo, 5\n");
  for (uint32_t lane = 0; lane < 64; ++lane) {
    CHECK(high[lane] == (lane < 32 || lane == 32 || lane == 34 ? 7 : 3));
    CHECK(low[lane] == (lane == 0 || lane == 2 || (lane >= 32 && lane < 40) ? 7 : 3));
  }
  const auto none = outputs(
      "v_cmp_gt_u32 vcc, 20, v0\ns_mov_b32 vcc_lo, 0\ns_cbranch_vccnz .Lsome\n"
      "v_mov_b32 v2, 5\n.Lsome:\n");
  CHECK(none[63] == 5);
}

TEST_CASE("masks become numbers through ballots, and scalar branches follow them") {
  const auto counted =
      outputs("v_cmp_gt_u32 vcc, 4, v0\ns_add_i32 s12, vcc_lo, 1\nv_mov_b32 v2, s12\n");
  CHECK(counted[33] == 16);
  const auto skipped =
      outputs("v_cmp_lt_u32 vcc, 200, v0\ns_cbranch_vccz .Lnone\nv_mov_b32 v2, 5\n.Lnone:\n");
  CHECK(skipped[0] == 1);
  const auto loop = outputs(
      "s_mov_b32 s12, 0\n.Lloop:\nv_add_i32 v2, vcc, v0, v2\ns_add_u32 s12, s12, 1\n"
      "s_cmp_lt_u32 s12, 5\ns_cbranch_scc1 .Lloop\n");
  CHECK(loop[9] == 46);
}

TEST_CASE("carries, 64-bit shifts, sub-dword accesses") {
  const auto carried = outputs("v_add_i32 v3, vcc, -1, v0\nv_addc_u32 v2, vcc, 0, v0, vcc\n");
  CHECK(carried[0] == 0);
  CHECK(carried[6] == 7);
  CHECK(outputs("v_mov_b32 v4, 0\nv_mov_b32 v5, v0\nv_lshr_b64 v[2:3], v[4:5], 30\n")[5] == 20);
  CHECK(outputs("v_mov_b32 v3, -2\nbuffer_store_byte v3, v1, s[8:11], 0 offen offset:1\n"
                "buffer_load_sshort v2, v1, s[8:11], 0 offen\n")[2] == 0xfffffe06);
  CHECK(outputs("v_mul_u32_u24 v2, v0, v0\n")[40] == 1600);
  CHECK(outputs("s_mul_i32 s12, s7, 3\nv_mov_b32 v2, s12\n")[1] == 0xf000 * 3);
}
