// What waves cost on a device whose subgroups are smaller than they:
//   1. saxpy with one invocation per wave ("serial") against one per lane;
//   2. a kernel of shuffles and votes against the same written by hand in GLSL with shared memory;
//   3. the time to the first result of a 1,000-instruction kernel with cross-lane operations, cold.
// Device: LANEWISE_DEVICE or the default; the hand-written kernel runs on the same driver.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "lanewise/lanewise.hpp"
#include "shuffle.inc"
#include "tests/support/drivers.hpp"
#include "tests/support/vk_compute.hpp"

namespace {

using namespace lanewise;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kBlock = 256, kGroups = 4096, kRepeats = 7;
constexpr const char* kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

constexpr const char* kSaxpy = R"(
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<8>;
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [a];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f4;
done:
  ret;
}
)";

/// A kernel `k` that takes the address of its data in %rd1.
std::string kernel_with(const std::string& body) {
  return std::string(kHeader) + R"(
.visible .entry k(.param .u64 data)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
)" + body +
         "  st.global.u32 [%rd3], %r1;\n  ret;\n}\n";
}

/// Four rounds of five butterfly steps and a vote, as tests/bench/shuffle.comp.
std::string shuffle_kernel() {
  std::string body;
  for (int round = 0; round < 4; ++round) {
    for (int distance = 16; distance > 0; distance /= 2) {
      body += fmt::format("  shfl.sync.bfly.b32 %r2, %r1, {}, 31, -1;\n  add.u32 %r1, %r1, %r2;\n",
                          distance);
    }
    body += R"(  add.u32 %r3, %r1, %r7;
  and.b32 %r3, %r3, 3;
  setp.eq.u32 %p1, %r3, 0;
  vote.sync.ballot.b32 %r4, %p1, -1;
  popc.b32 %r4, %r4;
  mad.lo.u32 %r1, %r1, 3, %r4;
  add.u32 %r1, %r1, %r7;
)";
  }
  return kernel_with(R"(  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mov.u32 %r7, %tid.x;
  mad.lo.u32 %r8, %r5, %r6, %r7;
  mul.wide.u32 %rd2, %r8, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r1, [%rd3];
)" + body);
}

/// A thousand instructions: arithmetic and memory, every 25th of them a shuffle, a vote or a match.
std::string long_kernel() {
  std::string body;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 11; ++j) {
      body += fmt::format("  mad.lo.u32 %r1, %r1, {}, %r2;\n  xor.b32 %r2, %r2, %r1;\n",
                          2 * (11 * i + j) + 3);
    }
    body +=
        fmt::format("  ld.global.u32 %r3, [%rd3+{}];\n  add.u32 %r1, %r1, %r3;\n", 4 * (i % 16));
    static constexpr const char* kWave[] = {
        "  shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;\n", "  vote.sync.ballot.b32 %r2, %p1, -1;\n",
        "  shfl.sync.idx.b32 %r2, %r1, 3, 31, -1;\n", "  match.any.sync.b32 %r2, %r1, -1;\n"};
    body += kWave[i % 4];
  }
  return kernel_with(R"(  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 7;
  setp.lt.u32 %p1, %r1, 9;
  mul.wide.u32 %rd2, %r1, 64;
  add.s64 %rd3, %rd1, %rd2;
)" + body);
}

double best_dispatch(const Kernel& kernel, const LaunchOptions& options, const auto&... args) {
  double best = 1e30;
  for (uint32_t i = 0; i < kRepeats; ++i) {
    const Result result = kernel.launch(options, args...);
    result.check();
    best = std::min(best, result.times.dispatch_ms);
  }
  return best;
}

void saxpy_in_both_modes() {
  Device device = Device::open();
  const uint32_t n = kBlock * kGroups;
  const std::vector<float> ones(n, 1.0F);
  auto x = device.buffer(ones), y = device.buffer(ones);
  const Kernel k = device.load_text(std::string(kHeader) + kSaxpy, Isa::ptx).kernel();
  const auto time = [&](WaveMode mode) {
    return best_dispatch(k, {.grid = {kGroups}, .block = {kBlock}, .wave = mode},
                         static_cast<int32_t>(n), 0.5F, x, y);
  };
  const double lane = time(WaveMode::lane), serial = time(WaveMode::serial);
  fmt::print("saxpy, {} elements: lane {:.1f} ms, serial {:.1f} ms, ratio {:.2f}\n", n, lane,
             serial, serial / lane);
}

/// Milliseconds of the hand-written kernel: a whole run less one with a single group, which sets
/// up as much. Empty when this device has no driver file of its own here.
double hand_written(std::vector<uint32_t> data) {
  const char* name = std::getenv("LANEWISE_DEVICE");
  const bool swift = name != nullptr && std::string(name).find("wift") != std::string::npos;
  double best = -1;
  for (const test::SoftwareDriver& driver : test::software_drivers()) {
    if (driver.label != (swift ? "swiftshader" : "lavapipe")) continue;
    const auto compute = test::Compute::open(driver.json);
    if (compute == nullptr) continue;
    const std::vector<uint32_t> spirv(std::begin(kShuffle), std::end(kShuffle));
    const auto run = [&](uint32_t groups) {
      double least = 1e30;
      for (uint32_t i = 0; i < kRepeats; ++i) {
        std::vector<uint32_t> copy = data;
        const auto start = Clock::now();
        const std::string failed = compute->run({spirv, {&copy}, groups});
        if (!failed.empty()) throw Error(ErrorKind::device, failed);
        least = std::min(least, ms_since(start));
      }
      return least;
    };
    best = run(kGroups) - run(1);
  }
  return best;
}

void shuffles_and_votes() {
  Device device = Device::open();
  std::vector<uint32_t> data(size_t{kBlock} * kGroups);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint32_t>(i * 2654435761U);
  auto buffer = device.buffer(data);
  const Kernel k = device.load_text(shuffle_kernel(), Isa::ptx).kernel();
  const double translated = best_dispatch(k, {.grid = {kGroups}, .block = {kBlock}}, buffer);
  const double by_hand = hand_written(data);
  fmt::print(
      "shuffles and votes, {} lanes: translated {:.1f} ms, GLSL with shared memory {:.1f} ms, "
      "ratio {:.2f}\n",
      data.size(), translated, by_hand, translated / by_hand);
}

void first_result() {
  const auto caches = std::filesystem::temp_directory_path() / "lanewise-bench-waves";
  std::filesystem::remove_all(caches);
  setenv("LANEWISE_CACHE_DIR", caches.c_str(), 1);
  setenv("MESA_SHADER_CACHE_DIR", (caches / "driver").c_str(), 1);
  {
    Device device = Device::open();
    auto data = device.allocate(64 * 64, "data");
    const auto start = Clock::now();
    const Kernel k = device.load_text(long_kernel(), Isa::ptx).kernel();
    const Result result = k.launch({.grid = {1}, .block = {64}}, data);
    result.check();
    fmt::print(
        "1,000 instructions, 40 of them cross-lane: first result after {:.0f} ms (translate "
        "{:.0f}, pipeline {:.0f}, dispatch {:.0f})\n",
        ms_since(start), result.times.translate_ms, result.times.pipeline_ms,
        result.times.dispatch_ms);
  }
  std::filesystem::remove_all(caches);
}

}  // namespace

int main() try {
  fmt::print("device: {}\n", Device::open().info().name);
  saxpy_in_both_modes();
  shuffles_and_votes();
  first_result();
  return 0;
} catch (const lanewise::Error& e) {
  fmt::print(stderr, "bench_waves: {}\n", e.what());
  return static_cast<int>(e.kind());
}
