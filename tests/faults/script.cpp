#include "tests/faults/script.hpp"

#include <algorithm>
#include <cstdlib>

#include "lanewise/lanewise.hpp"

namespace lanewise::faults {
namespace {

const char* const kKernels = R"(.version 7.5
.target sm_75
.address_size 64
.global .u32 total;
.visible .entry scale(.param .u64 p, .param .f32 a)
{
  .reg .b32 %r<3>; .reg .f32 %f<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.f32 %f1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.f32 %f2, [%d3];
  mul.rn.f32 %f3, %f2, %f1;
  st.global.f32 [%d3], %f3;
  ret;
}
.visible .entry count(.param .u64 p)
{
  .reg .b32 %r<5>; .reg .b64 %d<4>;
  .shared .align 4 .b8 cells[256];
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, cells;
  add.u32 %r3, %r3, %r2;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  ld.shared.u32 %r4, [cells+4];
  red.global.add.u32 [total], %r4;
  cvt.u64.u32 %d2, %r2;
  add.u64 %d3, %d1, %d2;
  add.u32 %r4, %r4, %r1;
  st.global.u32 [%d3], %r4;
  ret;
}
)";

}  // namespace

std::string selector() {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  return wanted != nullptr ? wanted : "reference";
}

Outcome scripted_run() {
  Device device = Device::open(selector());
  const Module module = device.load_text(kKernels, Isa::ptx);
  Buffer floats = device.buffer(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  Outcome out;
  const LaunchOptions eight{.grid = {1}, .block = {8}};
  out.wave_mode = module.kernel("scale").launch(eight, floats, 2.0F).check().wave_mode;
  // Larger than what was there: the arena moves.
  Buffer large = device.allocate(uint64_t{8} << 20, "large");
  module.kernel("count").launch({.grid = {1}, .block = {64}}, large).check();
  // One thread too many.
  const Result bad = module.kernel("scale").launch({.grid = {1}, .block = {9}}, floats, 1.0F);
  if (!bad.faults.empty()) out.fault = format(bad.faults[0]);
  out.scaled = floats.read<float>();
  out.counted = large.read<unsigned>();
  out.counted.resize(64);
  return out;
}

std::vector<long> chosen_steps(long steps, long stride) {
  const char* every = std::getenv("LANEWISE_TEST_EVERY_STEP");
  if (every != nullptr && *every == '1') stride = 1;
  if (const char* one = std::getenv("LANEWISE_TEST_STEP"); one != nullptr) return {std::atol(one)};
  std::vector<long> chosen;
  for (long step = 1; step <= steps; step += stride) chosen.push_back(step);
  return chosen;
}

}  // namespace lanewise::faults
