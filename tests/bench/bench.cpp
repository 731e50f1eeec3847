// Figures of the runtime itself, printed as two tables:
//   1. translate, pipeline and first-dispatch times of kernels of 20, 200 and 2,000 instructions;
//   2. what checked memory access costs against --memcheck off, for copy, saxpy and gather.
// Device: LANEWISE_DEVICE or the default. Caches are off for the first table (a fresh directory).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "lanewise/lanewise.hpp"

namespace {

using namespace lanewise;

constexpr const char* kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

/// About a quarter memory operations, the rest integer and float arithmetic on three live values.
std::string generated_kernel(int instructions) {
  std::string body;
  for (int i = 0; i < instructions / 4; ++i) {
    body += fmt::format(
        "  fma.rn.f32 %f1, %f1, %f2, %f3;\n  add.s32 %r2, %r2, {};\n"
        "  xor.b32 %r2, %r2, %r1;\n",
        2 * i + 1);
    body += i % 2 == 0 ? fmt::format("  ld.global.f32 %f2, [%rd2+{}];\n", 4 * (i % 64))
                       : fmt::format("  st.global.f32 [%rd2+{}], %f1;\n", 4 * (i % 64));
  }
  return std::string(kHeader) + R"(
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 256;
  add.s64 %rd2, %rd1, %rd3;
  cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F800000;
  mov.f32 %f3, 0f3F000000;
  mov.u32 %r2, 1;
)" + body +
         R"(
  cvt.rn.f32.u32 %f2, %r2;
  add.f32 %f1, %f1, %f2;
  st.global.f32 [%rd2], %f1;
  ret;
}
)";
}

void time_first_runs(int n) {
  Device device = Device::open();
  auto p = device.allocate(256 * 64, "p");
  const Kernel k = device.load_text(generated_kernel(n), Isa::ptx).kernel();
  const Result first = k.launch({.grid = {1}, .block = {64}}, p);
  const Result second = k.launch({.grid = {1}, .block = {64}}, p);
  first.check();
  fmt::print("{:>12} {:>9.2f} {:>13.2f} {:>12.2f} {:>17.2f} {:>13.2f}\n", n, first.times.parse_ms,
             first.times.translate_ms, first.times.pipeline_ms, first.times.dispatch_ms,
             second.times.dispatch_ms);
}

void bench_translation() {
  fmt::print("{:>12} {:>9} {:>13} {:>12} {:>17} {:>13}\n", "instructions", "parse ms",
             "translate ms", "pipeline ms", "first dispatch ms", "second run ms");
  for (const int n : {20, 200, 2000}) {
    // A directory of its own for each kernel: nothing is found in a cache.
    const auto cache = std::filesystem::temp_directory_path() / fmt::format("lanewise-bench-{}", n);
    std::filesystem::remove_all(cache);
    setenv("LANEWISE_CACHE_DIR", cache.c_str(), 1);
    setenv("MESA_SHADER_CACHE_DIR", (cache / "mesa").c_str(), 1);
    time_first_runs(n);
    std::filesystem::remove_all(cache);
  }
}

std::string memory_kernel(const std::string& loads) {
  return std::string(kHeader) + R"(
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 index)
{
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd3, [index];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd4, %r4, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
)" + loads +
         R"(
  st.global.f32 [%rd6], %f1;
  ret;
}
)";
}

double median_dispatch(const Kernel& k, const LaunchOptions& options, const Buffer& x,
                       const Buffer& y, const Buffer& index) {
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    times.push_back(k.launch(options, x, y, index).check().times.dispatch_ms);
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

void bench_checks() {
  constexpr uint32_t n = 1 << 21;
  const std::pair<const char*, std::string> kernels[] = {
      {"copy", "  ld.global.f32 %f1, [%rd5];\n"},
      {"saxpy",
       "  ld.global.f32 %f2, [%rd5];\n  ld.global.f32 %f3, [%rd6];\n"
       "  fma.rn.f32 %f1, %f2, 0f40000000, %f3;\n"},
      {"gather",
       "  ld.global.u32 %r5, [%rd7];\n  mul.wide.u32 %rd8, %r5, 4;\n  add.s64 %rd9, %rd1, %rd8;\n"
       "  ld.global.f32 %f1, [%rd9];\n"}};
  Device device = Device::open();
  std::vector<uint32_t> index(n);
  for (uint32_t i = 0; i < n; ++i) index[i] = (i * 2654435761u) % n;
  auto x = device.allocate(4 * n, "x"), y = device.allocate(4 * n, "y");
  auto dindex = device.buffer(index, "index");
  fmt::print("\n{:>8} {:>10} {:>12} {:>8}\n", "kernel", "off ms", "checked ms", "ratio");
  for (const auto& [name, loads] : kernels) {
    const Kernel k = device.load_text(memory_kernel(loads), Isa::ptx).kernel();
    LaunchOptions options{.grid = {n / 256}, .block = {256}};
    options.memcheck = Memcheck::off;
    const double off = median_dispatch(k, options, x, y, dindex);
    options.memcheck = Memcheck::arena;
    const double checked = median_dispatch(k, options, x, y, dindex);
    fmt::print("{:>8} {:>10.2f} {:>12.2f} {:>8.2f}\n", name, off, checked, checked / off);
  }
}

}  // namespace

int main() try {
  fmt::print("device: {}\n\n", Device::open().info().name);
  bench_translation();
  bench_checks();
} catch (const Error& e) {
  fmt::print(stderr, "bench: error: {}\n", e.what());
  return static_cast<int>(e.kind());
}
