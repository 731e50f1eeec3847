// scan_shfl.cu: a prefix sum made of shuffles, with barriers between its two levels.
#include <cstdlib>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

void check_scan(const char* variant, uint32_t groups, uint32_t threads, uint32_t n,
                lanewise::WaveMode wave = lanewise::WaveMode::automatic) {
  CAPTURE(variant);
  CAPTURE(threads);
  const auto in = random_ints<int32_t>(n, 77 + threads);
  std::vector<int32_t> out(n), sums(groups);
  auto a = device().buffer(in, "in"), b = device().buffer(out, "out");
  auto s = device().buffer(sums, "sums");
  const auto result = ptx("scan_shfl", variant, "scan_shfl")
                          .launch({.grid = {groups}, .block = {threads}, .wave = wave}, a, b, s,
                                  static_cast<int32_t>(n));
  result.check();
  const char* const asked = std::getenv("LANEWISE_WAVE");
  const std::string mode = device().info().name == "reference"     ? "lane"
                           : wave != lanewise::WaveMode::automatic ? std::string(name(wave))
                           : asked != nullptr                      ? asked
                                                                   : "packed";
  CHECK(result.wave_mode == mode);
  for (uint32_t group = 0; group < groups; ++group) {
    uint32_t sum = 0;
    for (uint32_t i = group * threads; i < (group + 1) * threads; ++i) {
      if (i >= n) break;
      sum += static_cast<uint32_t>(in[i]);
      out[i] = static_cast<int32_t>(sum);
    }
    sums[group] = static_cast<int32_t>(sum);
  }
  check_equal(b.read<int32_t>(), out);
  check_equal(s.read<int32_t>(), sums);
}

}  // namespace

TEST_CASE("scan with shuffles: one wave, several, and as many as fit") {
  for (const char* variant : {"sm75", "clang"}) {
    check_scan(variant, 3, 32, 90);
    check_scan(variant, 2, 256, 500);
    check_scan(variant, 1, 1024, 1024);
  }
}

TEST_CASE("kernels without cross-lane operations give the same in every mode") {
  const auto x = random_floats(700, 5), y = random_floats(700, 6);
  const auto run = [&](lanewise::WaveMode mode) {
    auto dx = device().buffer(x, "x"), dy = device().buffer(y, "y");
    const auto result = ptx("saxpy", "sm75", "saxpy")
                            .launch({.grid = {3}, .block = {256}, .wave = mode}, 700, 1.5f, dx, dy);
    result.check();
    CHECK(result.wave_mode ==
          (device().info().name == "reference" ? "lane" : lanewise::name(mode)));
    return dy.read<float>();
  };
  const auto expected = run(lanewise::WaveMode::lane);
  check_equal(run(lanewise::WaveMode::packed), expected);
  check_equal(run(lanewise::WaveMode::serial), expected);
}

// `threadIdx.x >> 5 == 0` chooses the lanes that scan the sums: all lanes of a block of one wave,
// which therefore reach every shuffle together; some of any larger block.
TEST_CASE("lane mode runs cross-lane operations that the whole block reaches together") {
  check_scan("sm75", 3, 32, 90, lanewise::WaveMode::lane);
  check_scan("sm75", 2, 20, 33, lanewise::WaveMode::lane);
}

TEST_CASE("lane mode refuses cross-lane operations that a part of the block reaches") {
  if (device().info().name == "reference") return;
  auto a = device().buffer(std::vector<int32_t>(64), "a");
  std::string message;
  try {
    ptx("scan_shfl", "sm75", "scan_shfl")
        .launch({.grid = {1}, .block = {64}, .wave = lanewise::WaveMode::lane}, a, a, a, 64);
  } catch (const lanewise::Error& error) {
    message = error.what();
  }
  CHECK(message.find("shfl.sync.up") != std::string::npos);
  CHECK(message.find("lane mode") != std::string::npos);
}

// Segments of four lanes, which stand side by side on devices, too.
TEST_CASE("shuffles within four lanes") {
  const std::string text = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %d0, [p];
  mov.u32 %r0, %tid.x;
  mul.lo.u32 %r1, %r0, 0x9e3779b1;
  shfl.sync.idx.b32 %r2, %r1, 2, 0x1c1f, 0xffffffff;
  shfl.sync.idx.b32 %r3, %r1, 7, 0x1c1f, 0xffffffff;
  shfl.sync.idx.b32 %r4|%p, %r1, 2, 0x1c01, 0xffffffff;
  selp.u32 %r5, 1, 0, %p;
  mul.wide.u32 %d1, %r0, 16;
  add.u64 %d0, %d0, %d1;
  st.global.v4.b32 [%d0], {%r2, %r3, %r4, %r5};
  ret;
})";
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 64; ++i) {
    const auto of = [](uint32_t lane) { return lane * 0x9e3779b1; };
    // The last one asks beyond its clamp, and keeps its own.
    for (const uint32_t word : {of((i & ~3U) + 2), of(i | 3), of(i), 0U}) expected.push_back(word);
  }
  auto out = device().buffer(std::vector<uint32_t>(256));
  device()
      .load_text(text, lanewise::Isa::ptx)
      .kernel("k")
      .launch({.grid = {1}, .block = {64}}, out)
      .check();
  check_equal(out.read<uint32_t>(), expected);
}
