// Memory events: counts of a kernel small enough for arithmetic by hand, the same trace on every
// device, slices, and no hazard where there is none.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "runtime/api/behind.hpp"
#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/trace/fan.hpp"
#include "runtime/trace/record.hpp"
#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Arg;
using lanewise::Buffer;
using lanewise::Device;

namespace {

/// Every item as a line of text: easy to compare, and readable when two traces differ.
class Lines final : public lanewise::trace::Sink {
 public:
  std::vector<std::string> lines;
  void kernel(const lanewise::trace::Kernel& k) override {
    lines.push_back(fmt::format("kernel {} {}", k.name, k.wave_lanes));
  }
  void site(const lanewise::trace::Site& s) override {
    lines.push_back(fmt::format("site {} {} {} {} {}", s.text, static_cast<int>(s.kind),
                                static_cast<int>(s.space), s.bytes, static_cast<int>(s.op)));
  }
  void buffer(const lanewise::trace::Buffer& b) override {
    lines.push_back(fmt::format("buffer {} {:x} {}", b.name, b.address, b.size));
  }
  void event(const lanewise::trace::Event& e) override {
    const lanewise::trace::WaveRecord& r = e.wave;
    if (e.kind != lanewise::trace::EventKind::wave) {
      lines.push_back(fmt::format("event {} {:x} {}", static_cast<int>(e.kind), e.address, e.size));
      return;
    }
    std::string line =
        fmt::format("{} {}.{} {:x} {:x}+{}", r.site, r.group, r.wave, r.mask, r.base, r.stride);
    for (const int64_t d : r.deltas) line += fmt::format(" {}", d);
    lines.push_back(std::move(line));
  }
};

std::string device_under_test() {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  return wanted != nullptr ? wanted : "reference";
}

struct Run {
  const char* file;
  const char* kernel;
  lanewise::LaunchOptions options;
  std::function<std::vector<Arg>(Device&, std::vector<Buffer>&)> args;
};

/// Buffers of words that look like small integers, and like small floats when bits say so.
Buffer& words(Device& d, std::vector<Buffer>& keep, size_t n, uint32_t mask = 63) {
  std::vector<uint32_t> v = random_ints<uint32_t>(n, 7 + keep.size());
  for (uint32_t& x : v) x &= mask;
  keep.push_back(d.buffer(v, fmt::format("b{}", keep.size())));
  return keep.back();
}

const Run kRuns[] = {
    {"ptx/saxpy.sm75.ptx",
     "saxpy",
     {.grid = {4}, .block = {256}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{1000, 2.0f, words(d, b, 1000), words(d, b, 1000)};
     }},
    {"ptx/reduce.sm75.ptx",
     "reduce",
     {.grid = {3}, .block = {256}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 2000), words(d, b, 3), 2000};
     }},
    {"ptx/transpose.sm75.ptx",
     "transpose",
     {.grid = {2, 2}, .block = {32, 8}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 50 * 40), words(d, b, 50 * 40), 50, 40};
     }},
    {"ptx/histogram.sm75.ptx",
     "histogram",
     {.grid = {3}, .block = {128}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 1000, ~0U), 4000, words(d, b, 256, 0)};
     }},
    {"ptx/scan_shfl.sm75.ptx",
     "scan_shfl",
     {.grid = {3}, .block = {128}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 300), words(d, b, 300), words(d, b, 3), 300};
     }},
    {"ptx/cachehints.sm75.ptx",
     "cachehints",
     {.grid = {2}, .block = {64}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 500), words(d, b, 500), words(d, b, 400),
                               words(d, b, 400), 100};
     }},
    {"ptx/bytecopy.sm75.ptx",
     "bytecopy",
     {.grid = {2}, .block = {64}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 25),
                               words(d, b, 25),
                               words(d, b, 50),
                               words(d, b, 50),
                               words(d, b, 25),
                               words(d, b, 100),
                               100};
     }},
    {"ptx/localarr.sm75.ptx",
     "localarr",
     {.grid = {1}, .block = {32}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 64 * 32), words(d, b, 32), 20};
     }},
    {"ptx/crc32.sm75.ptx",
     "crc32",
     {.grid = {2}, .block = {32}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 64 * 4, ~0U), 13, words(d, b, 64)};
     }},
    {"ptx/atomics.sm75.ptx",
     "atomics",
     {.grid = {1}, .block = {32}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 128), words(d, b, 8), words(d, b, 4), words(d, b, 8)};
     }},
    {"ptx/switchk.sm75.ptx",
     "switchk",
     {.grid = {1}, .block = {64}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 64, 7), words(d, b, 64), words(d, b, 64)};
     }},
    {"ptx/calls.sm75.ptx",
     "indirect",
     {.grid = {1}, .block = {64}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 64), words(d, b, 64), words(d, b, 64)};
     }},
    {"ptx/sgemm.sm75.ptx",
     "sgemm",
     {.grid = {2, 2}, .block = {16, 16}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{30,
                               31,
                               17,
                               1.0f,
                               words(d, b, 30 * 17),
                               words(d, b, 17 * 31),
                               0.5f,
                               words(d, b, 30 * 31)};
     }},
    {"ptx/bitonic.sm75.ptx",
     "bitonic",
     {.grid = {2}, .block = {256}},
     [](Device& d, std::vector<Buffer>& b) { return std::vector<Arg>{words(d, b, 1024)}; }},
    {"ptx/dynshared.sm75.ptx",
     "dynshared",
     {.grid = {1}, .block = {64}, .dynamic_shared = 800},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 150), words(d, b, 150), 150};
     }},
    {"ptx/int64.sm75.ptx",
     "int64k",
     {.grid = {2}, .block = {64}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 200), words(d, b, 200), words(d, b, 200),
                               words(d, b, 200), 100};
     }},
    {"ptx/mandelbrot.sm75.ptx",
     "mandelbrot",
     {.grid = {3, 2}, .block = {8, 8}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 300), 20, 15, -2.0f, -1.0f, 0.1f, 50};
     }},
    {"sass/k01_saxpy.cubin",
     "saxpy",
     {.grid = {4}, .block = {256}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{1000, 2.0f, words(d, b, 1000), words(d, b, 1000)};
     }},
    {"gcn/corpus/k01_saxpy.gfx803.hsaco",
     "saxpy",
     {.grid = {4}, .block = {256}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 1024), words(d, b, 1024), 2.0f, 1000};
     }},
    {"gcn/corpus/k11_vec4.gfx600.hsaco",
     "vec4copy",
     {.grid = {2}, .block = {256}},
     [](Device& d, std::vector<Buffer>& b) {
       return std::vector<Arg>{words(d, b, 4 * 512), words(d, b, 4 * 512)};
     }},
};

/// Compiling kernels is what costs on Vulkan devices, so these do there: straight code, loops with
/// barriers, atomics, cross-lane operations, cache operators, local memory.
bool on_devices(const Run& run) {
  const std::string kernel = run.kernel;
  for (const char* name :
       {"saxpy", "reduce", "histogram", "scan_shfl", "cachehints", "localarr", "vec4copy"})
    if (kernel == name) return true;
  return false;
}

void launch(const std::string& selector, const Run& run, lanewise::trace::Sink& sink,
            uint64_t buffer_bytes = lanewise::host::kDefaultTraceBuffer, bool derive = true) {
  Device d = Device::open(selector);
  const auto traced = lanewise::host::device_behind(d.c_handle());
  traced->start_tracing(sink, buffer_bytes, nullptr, {}, derive);
  const auto kernel = d.load_file(corpus(run.file)).kernel(run.kernel);
  std::vector<Buffer> keep;
  keep.reserve(16);
  const std::vector<Arg> args = run.args(d, keep);
  kernel.launch(run.options, args).check();
  traced->stop_tracing();
}

/// The first line that differs, not thousands of them.
void check_same(const std::vector<std::string>& got, const std::vector<std::string>& want) {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  if (a == got.end() && b == want.end()) return;
  CAPTURE(a - got.begin());
  CHECK((a == got.end() ? std::string("end") : *a) == (b == want.end() ? std::string("end") : *b));
}

}  // namespace

TEST_CASE("trace: saxpy as counted by hand") {
  lanewise::cache::Tracker tracker(lanewise::cache::load_preset("gm204"));
  launch(device_under_test(), kRuns[0], tracker);
  // 1000 of 1024 lanes, 32 waves; the last one has 8 lanes: 31 * 4 + 1 sectors each.
  REQUIRE(tracker.sites().size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CAPTURE(tracker.sites()[i].text);
    const auto& n = tracker.site_counters()[i];
    CHECK(n.instructions == 32);
    CHECK(n.lanes == 1000);
    CHECK(n.requests == 32);
    CHECK(n.sectors == 125);
    CHECK(n.bytes == 4000);
  }
  using lanewise::trace::OpKind;
  CHECK(tracker.sites()[0].kind == OpKind::load);
  CHECK(tracker.sites()[1].kind == OpKind::load);
  CHECK(tracker.sites()[2].kind == OpKind::store);
  CHECK(tracker.findings().empty());
}

TEST_CASE("trace: every device reports what the reference engine reports, and no hazard is seen") {
  const bool reference = device_under_test() == "reference";
  for (const Run& run : kRuns) {
    CAPTURE(run.kernel);
    if (!reference && !on_devices(run)) continue;
    Lines lines;
    lanewise::cache::Tracker tracker(lanewise::cache::load_preset("gv100"));
    lanewise::trace::Fan fan;
    fan.add(&lines);
    fan.add(&tracker);
    launch(device_under_test(), run, fan);
    CHECK(tracker.records() > 0);
    for (const auto& f : tracker.findings()) {
      CAPTURE(lanewise::cache::rule(f.rule).id);
      CHECK(f.severity == lanewise::cache::Severity::advice);
    }
    if (reference) continue;
    Lines wanted, recorded;
    launch("reference", run, wanted);
    check_same(lines.lines, wanted.lines);
    launch(device_under_test(), run, recorded, lanewise::host::kDefaultTraceBuffer, false);
    check_same(recorded.lines, wanted.lines);
  }
}

TEST_CASE("trace: a buffer that is too small cuts the grid into slices, and loses nothing") {
  const Run& reduce = kRuns[1];
  Lines whole, sliced;
  launch(device_under_test(), reduce, whole);
  launch(device_under_test(), reduce, sliced, 20000, false);
  check_same(sliced.lines, whole.lines);
}

namespace {

/// Does something at the first wave of a launch.
class AtFirstWave final : public lanewise::trace::Sink {
 public:
  explicit AtFirstWave(std::function<void()> act) : act_(std::move(act)) {}
  void kernel(const lanewise::trace::Kernel&) override {}
  void site(const lanewise::trace::Site&) override {}
  void buffer(const lanewise::trace::Buffer&) override {}
  void event(const lanewise::trace::Event& e) override {
    if (e.kind == lanewise::trace::EventKind::wave && waves++ == 0) act_();
    ended = ended || e.kind == lanewise::trace::EventKind::kernel_end;
  }
  size_t waves = 0;
  bool ended = false;

 private:
  std::function<void()> act_;
};

/// saxpy on so many groups that events are reported while the device works.
void launch_many(Device& d, lanewise::trace::Sink& sink, const std::atomic<bool>* cancel) {
  const auto traced = lanewise::host::device_behind(d.c_handle());
  const auto kernel = d.load_file(corpus("ptx/saxpy.sm75.ptx")).kernel("saxpy");
  const Buffer x = d.allocate(4 << 18), y = d.allocate(4 << 18);
  traced->start_tracing(sink);
  const lanewise::LaunchOptions options{.grid = {1024}, .block = {256}, .cancel = cancel};
  try {
    kernel.launch(options, 1 << 18, 2.0f, x, y).check();
  } catch (...) {
    traced->stop_tracing();
    throw;
  }
  traced->stop_tracing();
}

}  // namespace

TEST_CASE("trace: a sink's error ends the launch, and the device goes on") {
  Device d = Device::open(device_under_test());
  AtFirstWave full([] { throw std::runtime_error("the disk is full"); });
  CHECK_THROWS_WITH(launch_many(d, full, nullptr), "the disk is full");
  CHECK(!full.ended);
  AtFirstWave idle([] {});
  launch_many(d, idle, nullptr);
  CHECK(idle.ended);
  CHECK(idle.waves == 3 * 1024 * 8);
}

TEST_CASE("trace: generic accesses to shared memory leave no event, and none that is wrong") {
  const std::string text = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  mov.u64 %rd3, s;
  cvta.shared.u64 %rd4, %rd3;
  add.s64 %rd5, %rd4, %rd2;
  ld.u32 %r2, [%rd1];
  st.u32 [%rd5], %r2;
  ld.u32 %r3, [%rd5];
  add.s32 %r3, %r3, 1;
  st.u32 [%rd1], %r3;
  ret;
}
)";
  std::vector<std::vector<std::string>> all;
  for (const auto& [device, derive] : {std::pair<std::string, bool>("reference", true),
                                       {device_under_test(), false},
                                       {device_under_test(), true}}) {
    Device d = Device::open(device);
    const auto traced = lanewise::host::device_behind(d.c_handle());
    const auto kernel = d.load_text(text, lanewise::Isa::ptx).kernel("k");
    Buffer b = d.buffer(std::vector<uint32_t>(64, 5), "b");
    Lines lines;
    traced->start_tracing(lines, lanewise::host::kDefaultTraceBuffer, nullptr, {}, derive);
    kernel.launch({.grid = {1}, .block = {64}}, b).check();
    traced->stop_tracing();
    CHECK(b.read<uint32_t>() == std::vector<uint32_t>(64, 6));
    all.push_back(lines.lines);
  }
  check_same(all[1], all[0]);
  check_same(all[2], all[0]);
}

TEST_CASE("trace: a launch that is cancelled while its events are reported ends") {
  Device d = Device::open(device_under_test());
  std::atomic<bool> cancel = false;
  AtFirstWave cancels([&] { cancel = true; });
  CHECK_THROWS(launch_many(d, cancels, &cancel));
  CHECK(!cancels.ended);
  CHECK(cancels.waves < 3 * 1024 * 8);
}

TEST_CASE("trace: a group whose events never fit is an error that names the option") {
  Lines lines;
  CHECK_THROWS_WITH(launch(device_under_test(), kRuns[0], lines, 1024, false),
                    "one work-group of kernel 'saxpy' makes more memory events than the event "
                    "buffer of 1 KiB holds; raise --trace-buffer");
}
