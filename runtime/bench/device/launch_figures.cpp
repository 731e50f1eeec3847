#include "runtime/bench/device/launch_figures.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>
#include <span>

#include "lanewise/lanewise.hpp"
#include "lanewise/queue.hpp"
#include "runtime/bench/pairs/sides.hpp"
#include "runtime/vulkan/pipeline/native.hpp"

namespace lanewise::bench {
namespace {

constexpr unsigned kLaunches = 10000, kRound = 500;

/// The lanes of the launches here leave before the long part: what counts is the host's work, which
/// must not grow with the kernel.
std::string kernel_text(int instructions) {
  std::string cold;
  for (int i = 0; i < instructions; ++i)
    cold += fmt::format("  xor.b32 %r2, %r2, {};\n  add.s32 %r2, %r2, %r1;\n", i);
  return R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r3, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  setp.lt.u32 %p1, %r1, %r3;
  @%p1 bra short;
)" + cold +
         R"(
short:
  add.s32 %r2, %r2, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
}

double microseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

double resident_kib() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * 4;
}

/// What the device takes without us.
class Bare {
 public:
  explicit Bare(const std::string& selector)
      : device_(selector), can_dispatch_(device_.abilities().pointers) {
    if (!can_dispatch_) return;
    const vulkan::NativeAbilities can = device_.abilities();
    kernel_ = device_.add_kernel(native_words("copy1", !can.int64 || !can.storage8));
    for (uint64_t& p : push_.pointers) p = device_.address(device_.add_buffer(4 * 64));
  }
  /// Microseconds of so many submissions, each waited for.
  double empty(unsigned times) {
    return microseconds([&] {
      for (unsigned i = 0; i < times; ++i) device_.run_nothing();
    });
  }
  /// The same with one work-group of hand-written GLSL each; 0 where that cannot run.
  double dispatch(unsigned times) {
    if (!can_dispatch_) return 0;
    return microseconds([&] {
      for (unsigned i = 0; i < times; ++i)
        device_.run(kernel_, std::as_bytes(std::span(&push_, 1)), {1});
    });
  }

 private:
  struct Push {
    uint64_t pointers[4] = {};
    int32_t integers[4] = {64, 0, 0, 0};
    float number = 0;
  };
  vulkan::NativeDevice device_;
  bool can_dispatch_;
  size_t kernel_ = 0;
  Push push_;
};

double thread_microseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

/// As many launches again through a queue, a thousand between waits; means of a launch.
void add_queued(Figure& f, const Device& device, const std::function<void(Queue&)>& launch) {
  constexpr unsigned kBetweenWaits = 1000;
  Queue queue(device);
  double wall = 0, enqueueing = 0;
  for (unsigned done = 0; done < kLaunches; done += kBetweenWaits)
    wall += microseconds([&] {
      const double start = thread_microseconds();
      for (unsigned i = 0; i < kBetweenWaits; ++i) launch(queue);
      enqueueing += thread_microseconds() - start;
      queue.finish();
    });
  f.more.emplace_back("queued_us", wall / kLaunches);
  f.more.emplace_back("enqueue_cpu_us", enqueueing / kLaunches);
}

/// Launches that are waited for one by one, and empty submissions, in turn; means of a launch.
Figure small_launches(const std::string& selector, int instructions) {
  Device device = Device::open(selector);
  std::optional<Bare> bare;
  if (device.info().name != "reference") bare.emplace(selector);
  const Buffer p = device.allocate(4 * 64, "p");
  const Kernel kernel = device.load_text(kernel_text(instructions), Isa::ptx).kernel();
  const LaunchOptions options{.grid = {1}, .block = {64}};
  kernel.launch(options, p, 64).check();  // compiles
  double ours = 0, empty = 0, dispatch = 0, settled = 0;
  for (unsigned done = 0; done < kLaunches; done += kRound) {
    if (done == kLaunches / 5) settled = resident_kib();
    ours += microseconds([&] {
      for (unsigned i = 0; i < kRound; ++i) kernel.launch(options, p, 64);
    });
    if (!bare) continue;
    empty += bare->empty(kRound);
    dispatch += bare->dispatch(kRound);
  }
  Figure f{.name = fmt::format("launch/{}", instructions), .unit = "us", .value = ours / kLaunches};
  if (bare) f.beside = "empty submission", f.other = empty / kLaunches;
  if (dispatch != 0) f.more.emplace_back("glsl_dispatch_us", dispatch / kLaunches);
  f.more.emplace_back("memory_growth_kib", resident_kib() - settled);
  add_queued(f, device, [&](Queue& queue) { queue.launch(kernel, options, {p, 64}); });
  for (const uint32_t x : p.read<uint32_t>())
    if (x != 2 * kLaunches + 1) f.wrong = fmt::format("a lane counted {} launches", x);
  return f;
}

}  // namespace

std::vector<Benchmark> launch_benchmarks(const std::string& selector) {
  std::vector<Benchmark> all;
  for (const int n : {20, 2000})
    all.push_back(
        {fmt::format("launch/{}", n), [=](unsigned) { return small_launches(selector, n); }});
  return all;
}

}  // namespace lanewise::bench
