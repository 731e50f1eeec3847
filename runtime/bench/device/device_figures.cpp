#include "runtime/bench/device/device_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>

#include "lanewise/lanewise.hpp"
#include "runtime/api/behind.hpp"

namespace lanewise::bench {
namespace {

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

/// An environment variable that has another value while this lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (had_)
      setenv(name_, old_.c_str(), 1);
    else
      unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

/// From text to the first result, nothing found in a cache: the directories are fresh.
Figure first_run(const std::string& selector, int instructions) {
  std::string folder = (std::filesystem::temp_directory_path() / "lanewise-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorKind::usage, fmt::format("cannot make a directory like {}", folder));
  const std::filesystem::path cache(folder);
  Figure f{.name = fmt::format("first-run/{}", instructions), .unit = "ms"};
  {
    const Setting ours("LANEWISE_CACHE_DIR", cache.string());
    const Setting mesa("MESA_SHADER_CACHE_DIR", (cache / "mesa").string());
    Device device = Device::open(selector);
    auto p = device.allocate(256 * 64, "p");
    const Kernel k = device.load_text(generated_kernel(instructions), Isa::ptx).kernel();
    const Result first = k.launch({.grid = {1}, .block = {64}}, p).check();
    const Result second = k.launch({.grid = {1}, .block = {64}}, p).check();
    const Times& t = first.times;
    f.value = t.parse_ms + t.translate_ms + t.pipeline_ms + t.dispatch_ms;
    f.more = {{"parse_ms", t.parse_ms},
              {"translate_ms", t.translate_ms},
              {"pipeline_ms", t.pipeline_ms},
              {"first_dispatch_ms", t.dispatch_ms},
              {"second_dispatch_ms", second.times.dispatch_ms}};
  }
  std::error_code ignored;
  std::filesystem::remove_all(cache, ignored);
  return f;
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

constexpr std::pair<const char*, const char*> kKernels[] = {
    {"copy", "  ld.global.f32 %f1, [%rd5];\n"},
    {"saxpy",
     "  ld.global.f32 %f2, [%rd5];\n  ld.global.f32 %f3, [%rd6];\n"
     "  fma.rn.f32 %f1, %f2, 0f40000000, %f3;\n"},
    {"gather",
     "  ld.global.u32 %r5, [%rd7];\n  mul.wide.u32 %rd8, %r5, 4;\n  add.s64 %rd9, %rd1, %rd8;\n"
     "  ld.global.f32 %f1, [%rd9];\n"}};

/// One of kKernels with its buffers.
struct MemoryKernel {
  Device device;
  Buffer x, y, index;
  Kernel kernel;
  LaunchOptions options;

  MemoryKernel(const std::string& selector, const char* loads, uint32_t n)
      : device(Device::open(selector)),
        x(device.allocate(4 * uint64_t{n}, "x")),
        y(device.allocate(4 * uint64_t{n}, "y")),
        index(device.buffer(scattered(n), "index")),
        kernel(device.load_text(memory_kernel(loads), Isa::ptx).kernel()),
        options{.grid = {n / 256}, .block = {256}} {}
  static std::vector<uint32_t> scattered(uint32_t n) {
    std::vector<uint32_t> v(n);
    for (uint32_t i = 0; i < n; ++i) v[i] = (i * 2654435761U) % n;
    return v;
  }
  double launch() { return kernel.launch(options, x, y, index).check().times.dispatch_ms; }
};

double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<long>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

bool slow(const Device& d) {
  return d.info().name == "reference";
}

/// Checked access beside --memcheck off, run by run in turn; medians.
Figure checks(const std::string& selector, const char* name, const char* loads, unsigned repeats) {
  const bool small = slow(Device::open(selector));
  MemoryKernel k(selector, loads, small ? 1U << 14 : 1U << 21);
  std::vector<double> off, checked;
  for (unsigned i = 0; i < 1 + 5 * repeats; ++i) {
    k.options.memcheck = Memcheck::off;
    const double a = k.launch();
    k.options.memcheck = Memcheck::alloc;
    const double b = k.launch();
    if (i == 0) continue;  // compiles
    off.push_back(a);
    checked.push_back(b);
  }
  return {.name = fmt::format("checks/{}", name),
          .unit = "ms",
          .value = median(checked),
          .beside = "memcheck off",
          .other = median(off)};
}

/// Takes events and keeps nothing: what is left is the cost of making them.
class Counter final : public trace::Sink {
 public:
  uint64_t lanes = 0;
  void kernel(const trace::Kernel&) override {}
  void site(const trace::Site&) override {}
  void buffer(const trace::Buffer&) override {}
  void event(const trace::Event& e) override {
    if (e.kind == trace::EventKind::wave)
      lanes += static_cast<uint64_t>(std::popcount(e.wave.mask));
  }
  void waves(std::span<const trace::StridedWave> waves) override {
    for (const trace::StridedWave& w : waves) lanes += static_cast<uint64_t>(std::popcount(w.mask));
  }
};

/// A traced launch beside an untraced one, run by run in turn; medians. derive: as users get it;
/// else all events are recorded on the device.
Figure tracing(const std::string& selector, const char* name, const char* loads, unsigned repeats,
               bool derive) {
  const bool small = slow(Device::open(selector));
  MemoryKernel k(selector, loads, small ? 1U << 14 : 1U << 21);
  std::vector<double> plain, traced;
  Counter counter;
  for (unsigned i = 0; i < 1 + 5 * repeats; ++i) {
    const double a = k.launch();
    counter.lanes = 0;
    host::device_behind(k.device.c_handle())
        ->start_tracing(counter, host::kDefaultTraceBuffer, nullptr, {}, derive);
    const double b = k.launch();
    host::device_behind(k.device.c_handle())->stop_tracing();
    if (i == 0) continue;  // compiles
    plain.push_back(a);
    traced.push_back(b);
  }
  return {.name = fmt::format("{}/{}", derive ? "trace" : "record", name),
          .unit = "ms",
          .value = median(traced),
          .beside = "untraced",
          .other = median(plain),
          .more = {{"lane_accesses", static_cast<double>(counter.lanes)}}};
}

}  // namespace

std::vector<Benchmark> device_benchmarks(const std::string& selector) {
  std::vector<Benchmark> all;
  for (const int n : {20, 200, 2000})
    all.push_back(
        {fmt::format("first-run/{}", n), [=](unsigned) { return first_run(selector, n); }});
  for (const auto& [name, loads] : kKernels) {
    all.push_back({fmt::format("checks/{}", name), [=, n = name, l = loads](unsigned repeats) {
                     return checks(selector, n, l, repeats);
                   }});
    for (const bool derive : {true, false})
      all.push_back({fmt::format("{}/{}", derive ? "trace" : "record", name),
                     [=, n = name, l = loads](unsigned repeats) {
                       return tracing(selector, n, l, repeats, derive);
                     }});
  }
  return all;
}

}  // namespace lanewise::bench
