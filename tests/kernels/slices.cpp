// The same computation in three instruction sets gives the same bytes: saxpy as PTX, as Maxwell
// SASS from a cubin's listing and as GCN assembly from clang.
#include <cmath>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

constexpr int kCount = 1000;
constexpr float kFactor = 0.3f;

struct Data {
  std::vector<float> x = random_floats(kCount, 40), y = random_floats(kCount, 41);
};

std::vector<float> run_ptx() {
  const Data d;
  auto x = device().buffer(d.x, "x"), y = device().buffer(d.y, "y");
  ptx("saxpy", "sm75", "saxpy")
      .launch({.grid = {4}, .block = {256}}, kCount, kFactor, x, y)
      .check();
  return y.read<float>();
}

/// saxpy(n, a, x, y): parameters at their natural alignment, as CUDA lays them out.
std::vector<float> run_sass(const char* kernel) {
  const Data d;
  auto x = device().buffer(d.x, "x"), y = device().buffer(d.y, "y");
  device()
      .load_file(corpus("sass/k01_saxpy.sass"))
      .kernel(kernel)
      .launch({.grid = {4}, .block = {256}}, kCount, kFactor, x, y)
      .check();
  return y.read<float>();
}

/// saxpy(y, x, a, n), 256 threads a group.
std::vector<float> run_gcn() {
  const Data d;
  auto x = device().buffer(d.x, "x"), y = device().buffer(d.y, "y");
  device()
      .load_file(corpus("gcn/k01_saxpy.gfx600.s"))
      .kernel("saxpy")
      .launch({.grid = {4}, .block = {256}}, y, x, kFactor, kCount)
      .check();
  return y.read<float>();
}

}  // namespace

TEST_CASE("SASS saxpy equals PTX saxpy") {
  check_equal(run_sass("saxpy"), run_ptx());
}

TEST_CASE("SASS grid-stride saxpy equals PTX saxpy") {
  check_equal(run_sass("saxpy_gs"), run_ptx());
}

TEST_CASE("GCN saxpy: v_mac_f32 rounds the product, so it equals multiply and add") {
  const Data d;
  std::vector<float> want(kCount);
  for (int i = 0; i < kCount; ++i) want[i] = kFactor * d.x[i] + d.y[i];
  check_equal(run_gcn(), want);
}

TEST_CASE("copy in three instruction sets: the same bytes, all addressing forms") {
  const int n = 64;
  const auto data = random_ints<uint32_t>(n, 42);
  const auto run = [&](const std::string& text, lanewise::Isa isa) {
    auto in = device().buffer(data, "in"), out = device().allocate(4 * n, "out");
    device().load_text(text, isa).kernel().launch({.grid = {1}, .block = {n}}, in, out).check();
    return out.read<uint32_t>();
  };
  const std::string ptx_copy = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  st.global.u32 [%rd5], %r2;
  ret;
}
)";
  const std::string sass_copy = R"(
S2R R0, SR_TID.X ;
SHL R1, R0, 0x2 ;
IADD R2.CC, R1, c[0x0][0x140] ;
IADD.X R3, RZ, c[0x0][0x144] ;
IADD R4.CC, R1, c[0x0][0x148] ;
IADD.X R5, RZ, c[0x0][0x14c] ;
ISETP.LT.AND P0, PT, R0, 0x40, PT ;
@P0 LDG.E R6, [R2] ;
@P0 STG.E [R4], R6 ;
EXIT ;
)";
  // The store is done twice, under halves of EXEC: together they write everything.
  const auto gcn_copy = [](const std::string& load, const std::string& store) {
    return "s_load_dwordx2 s[8:9], s[0:1], 0x0\n"
           "s_load_dwordx2 s[12:13], s[0:1], 0x2\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_mov_b32 s10, -1\ns_mov_b32 s11, 0xf000\n"
           "s_mov_b32 s14, -1\ns_mov_b32 s15, 0xf000\n" +
           load + "s_waitcnt vmcnt(0)\n" +
           "s_mov_b32 s20, 0x0f0f0f0f\ns_mov_b32 s21, 0xffff0000\ns_mov_b64 exec, s[20:21]\n" +
           store +
           "s_mov_b32 s20, 0xf0f0f0f0\ns_mov_b32 s21, 0x0000ffff\ns_mov_b64 exec, s[20:21]\n" +
           store + "s_endpgm\n";
  };
  const std::string offen =
      gcn_copy("v_lshlrev_b32 v1, 2, v0\nbuffer_load_dword v2, v1, s[8:11], 0 offen\n",
               "buffer_store_dword v2, v1, s[12:15], 0 offen\n");
  // STRIDE 4 in bits 16 and up of the second descriptor word.
  const std::string stride = "s_or_b32 s9, s9, 0x40000\ns_or_b32 s13, s13, 0x40000\n";
  const std::string idxen = gcn_copy(stride + "buffer_load_dword v2, v0, s[8:11], 0 idxen\n",
                                     "buffer_store_dword v2, v0, s[12:15], 0 idxen\n");
  const std::string addr64 = gcn_copy(
      "v_lshlrev_b32 v3, 2, v0\nv_mov_b32 v4, 0\n"
      "buffer_load_dword v2, v[3:4], s[8:11], 0 addr64\n",
      "buffer_store_dword v2, v[3:4], s[12:15], 0 addr64\n");
  CHECK(run(ptx_copy, lanewise::Isa::ptx) == data);
  CHECK(run(sass_copy, lanewise::Isa::sass) == data);
  for (const std::string& text : {offen, idxen, addr64}) {
    CAPTURE(text);
    CHECK(run(text, lanewise::Isa::gcn) == data);
  }
}
