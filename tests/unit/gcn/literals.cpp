// Numbers of the text by the type of their operand: what runs is what the text says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using test::Bench;

namespace {

struct Read {
  gcn::Listing listing;
  gcn::LowerResult lowered;
};
Read read(const std::string& body, const char* target) {
  Read r;
  r.listing =
      gcn::parse(fmt::format(".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n"
                             "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                             "s_mov_b32 s6, -1\ns_mov_b32 s7, 0xf000\n"
                             "s_waitcnt lgkmcnt(0)\n{}\n"
                             "buffer_store_dword v2, off, s[4:7], 0\n"
                             "buffer_store_dword v3, off, s[4:7], 0 offset:4\ns_endpgm\n",
                             target, body));
  for (const Diagnostic& d : r.listing.diagnostics)
    if (!d.warning) FAIL_CHECK(d.line << ": " << d.message);
  r.lowered = gcn::lower(r.listing);
  return r;
}

/// v3 and v2 behind the body, as one number.
uint64_t result(const std::string& body, const char* target) {
  const Read r = read(body, target);
  for (const Diagnostic& d : r.lowered.diagnostics)
    if (!d.warning) FAIL_CHECK(body << ": " << d.message);
  if (r.lowered.module.kernels.empty()) return 0;
  Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(2, 0xdeadbeef));
  bench.arg(out);
  CHECK(bench.run(r.lowered.module.kernels[0], 1, 1).fault_count == 0);
  const auto words = bench.get<uint32_t>(out, 2);
  return words[0] | uint64_t{words[1]} << 32;
}

uint64_t f64(double x) {
  return std::bit_cast<uint64_t>(x);
}
/// A literal is the upper half.
double cut(double x) {
  return std::bit_cast<double>(f64(x) >> 32 << 32);
}
uint64_t f32(float x) {
  return std::bit_cast<uint32_t>(x);
}

struct Case {
  const char* text;
  uint64_t value;
};
constexpr const char* kTargets[] = {"gfx600", "gfx700", "gfx803"};

}  // namespace

TEST_CASE("gcn literals: doubles are their upper half") {
  const std::string before = "v_mov_b32 v3, 0\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0x3ff00000\n";
  const std::string behind = "\nv_cndmask_b32 v2, 0, 1, vcc";
  const Case compares[] = {
      {"v_cmp_lt_f64 vcc, 1.5, v[4:5]", 0},     {"v_cmp_gt_f64 vcc, 1.5, v[4:5]", 1},
      {"v_cmp_eq_f64 vcc, 1.0, v[4:5]", 1},     {"v_cmp_eq_f64 vcc, 0x3ff0000000000000, v[4:5]", 1},
      {"v_cmp_lt_f64 vcc, -1000.0, v[4:5]", 1}, {"v_cmp_gt_f64 vcc, 1e300, v[4:5]", 1},
      {"v_cmp_lt_f64 vcc, 0.1, v[4:5]", 1},     {"v_cmp_lt_f64 vcc, neg(1.5), v[4:5]", 1},
      {"v_cmp_gt_f64 vcc, |-1.5|, v[4:5]", 1},  {"v_cmp_gt_f64 vcc, 0x3ff80000, v[4:5]", 1},
      {"v_cmp_class_f64 vcc, 1.5, v0", 0}};
  for (const char* target : kTargets)
    for (const Case& c : compares) {
      CAPTURE(target);
      CAPTURE(c.text);
      CHECK(result(before + "v_mov_b32 v0, 0\n" + c.text + behind, target) == c.value);
    }
  const Case moves[] = {
      {"v_rcp_f64 v[2:3], 8.0", f64(0.125)},
      {"v_fract_f64 v[2:3], 2.75", f64(0.75)},
      {"v_frexp_mant_f64 v[2:3], 12.0", f64(0.75)},
      {"v_cvt_f32_f64 v2, 1.374", f32(static_cast<float>(cut(1.374)))},
      {"v_cvt_f32_f64 v2, 0.1", f32(static_cast<float>(cut(0.1)))},
      {"v_cvt_i32_f64 v2, -123456.0", 0xfffe1dc0},
      {"v_cvt_f64_f32 v[2:3], 1.374", f64(1.374F)},
      {"v_cvt_f64_i32 v[2:3], -1000", f64(-1000)},
      {"s_mov_b64 s[8:9], 1.0\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9", f64(1)},
      {"s_mov_b64 s[8:9], 0xbff0000000000000\nv_mov_b32 v2, s8\n"
       "v_mov_b32 v3, s9",
       f64(-1)},
      {"s_mov_b64 s[8:9], 0x12345678\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9", 0x12345678}};
  for (const char* target : kTargets)
    for (const Case& c : moves) {
      CAPTURE(target);
      CAPTURE(c.text);
      CHECK(result(std::string("v_mov_b32 v3, 0\n") + c.text, target) == c.value);
    }
}

TEST_CASE("gcn literals: halves and integers of 16 bits") {
  // v4 is 1.0, v5 is 2.0, v6 is 100.
  const std::string before =
      "v_mov_b32 v3, 0\nv_mov_b32 v4, 0x3c00\nv_mov_b32 v5, 0x4000\nv_mov_b32 v6, 100\n";
  const Case cases[] = {{"v_add_f16 v2, 1.374, v4", 0x40c0},
                        {"v_add_f16 v2, -1.374, v4", 0xb5fc},
                        {"v_add_f16 v2, 0x3d7f, v4", 0x40c0},
                        {"v_mul_f16 v2, 1.5, v5", 0x4200},
                        {"v_mul_f16 v2, neg(1.5), v5", 0xc200},
                        {"v_subrev_f16 v2, 1.5, v5", 0x3800},
                        {"v_madmk_f16 v2, v4, 1.5, v5", 0x4300},
                        {"v_madak_f16 v2, v4, v5, 1.5", 0x4300},
                        {"v_madak_f16 v2, 2.0, v5, 1.0", 0x4500},
                        {"v_ldexp_f16 v2, 1.5, v0", 0x4600},
                        {"v_max_f16 v2, 65504.0, v4", 0x7bff},
                        {"v_add_f16 v2, 0.15915494, v4", 0x3ca3},
                        {"v_add_f16 v2, 1.0, v4", 0x4000},
                        {"v_cvt_f32_f16 v2, 1.5", f32(1.5F)},
                        {"v_cvt_f32_f16 v2, 0.1", f32(0.0999755859375F)},
                        {"v_cvt_f16_u16 v2, 1000", 0x63d0},
                        {"v_cvt_f16_i16 v2, -1000", 0xe3d0},
                        {"v_rcp_f16 v2, 8.0", 0x3000},
                        {"v_cmp_lt_f16 vcc, 1.5, v5\nv_cndmask_b32 v2, 0, 1, vcc", 1},
                        {"v_cmp_lt_f16 vcc, 2.5, v5\nv_cndmask_b32 v2, 0, 1, vcc", 0},
                        {"v_cmp_gt_u16 vcc, 65000, v6\nv_cndmask_b32 v2, 0, 1, vcc", 1},
                        {"v_cmp_gt_i16 vcc, 65000, v6\nv_cndmask_b32 v2, 0, 1, vcc", 0},
                        {"v_add_u16 v2, 1000, v6", 1100},
                        {"v_add_u16 v2, -100, v6", 0},
                        {"v_add_u16 v2, 1.0, v6", 0x3c64},
                        {"v_mul_lo_u16 v2, -17, v6", 0xf95c},
                        {"v_max_i16 v2, -100, v6", 100},
                        {"v_min_i16 v2, -100, v6", 0xff9c},
                        {"v_max_u16 v2, 0xffef, v6", 0xffef},
                        {"v_lshlrev_b16 v2, 3, v6", 800}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(result(before + "v_mov_b32 v0, 2\n" + c.text, "gfx803") == c.value);
  }
}

TEST_CASE("gcn literals: 32 bits, and constants that have a code on GCN3 alone") {
  const Case cases[] = {{"v_mov_b32 v2, 1.374", f32(1.374F)},
                        {"v_mov_b32 v2, 0x1.8p3", f32(12)},
                        {"v_mov_b32 v2, .5", f32(0.5F)},
                        {"v_mov_b32 v2, 0.15915494", f32(0.15915494F)},
                        {"v_mov_b32 v2, 0.15915494309189532", f32(0.15915494309189532F)},
                        {"v_mov_b32 v2, -0.0", 0x80000000},
                        {"v_mov_b32 v2, 0xfffffff0", 0xfffffff0},
                        {"v_add_f32 v2, neg(1.5), v4", f32(-0.5F)},
                        {"v_add_f32 v2, -|1.5|, v4", f32(-0.5F)},
                        {"v_add_f32 v2, |-1.5|, v4", f32(2.5F)},
                        {"v_add_f32_e64 v2, neg(0.5), v4", f32(0.5F)},
                        {"v_madmk_f32 v2, v4, 1.5, v4", f32(2.5F)},
                        {"v_madak_f32 v2, 2.0, v4, 1.5", f32(3.5F)},
                        {"s_mov_b32 s8, 1.374\nv_mov_b32 v2, s8", f32(1.374F)},
                        {"s_add_i32 s8, 400000, 400000\nv_mov_b32 v2, s8", 800000}};
  for (const char* target : kTargets)
    for (const Case& c : cases) {
      CAPTURE(target);
      CAPTURE(c.text);
      CHECK(result(std::string("v_mov_b32 v3, 0\nv_mov_b32 v4, 1.0\n") + c.text, target) ==
            c.value);
    }
}

TEST_CASE("gcn literals: lost bits are warned of, in words without a text nothing runs") {
  const Read lost =
      read("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_cmp_lt_f64 vcc, 0.1, v[2:3]", "gfx600");
  REQUIRE(lost.listing.diagnostics.size() == 1);
  CHECK(lost.listing.diagnostics[0].warning);
  CHECK(lost.listing.diagnostics[0].line == 8);
  CHECK(lost.listing.diagnostics[0].message.find("lower 32 bits") != std::string::npos);
  // v_add_f32 of two scalar registers, v_add_u16 of a floating-point constant, v_mov_b32 of LDS.
  for (const auto& [words, why] : {std::pair{"0xd1010002, 0x00000605", "one scalar register"},
                                   {"0x4c0404f2", "16-bit integer"},
                                   {"0x7e0402fe", "lds_direct"}}) {
    const Read r = read(std::string("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\n.long ") + words, "gfx803");
    REQUIRE(r.lowered.rejected.size() == 1);
    REQUIRE(!r.lowered.diagnostics.empty());
    CHECK(r.lowered.diagnostics.back().message.find(why) != std::string::npos);
  }
}
