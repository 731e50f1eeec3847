#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/bench/pairs/guest_text.hpp"
#include "runtime/bench/pairs/sides.hpp"
#include "tests/hardware/device/device.hpp"
#include "tests/hardware/device/rows.hpp"

namespace lanewise::kit {
namespace {

constexpr unsigned kRounds = 12;
constexpr uint32_t kGroup = 256;
constexpr uint64_t kVector = 16;  ///< bytes that a lane copies

/// The least of several times, which is the one that nothing disturbed; the first does not count.
template <typename F>
double least_ms(F run) {
  run();
  double least = run();
  for (unsigned i = 2; i < kRounds; ++i) least = std::min(least, run());
  return least;
}

struct Push {  // shaders/native/common.glsl
  uint64_t pointers[4] = {};
  int32_t integers[4] = {};
  float number = 0;
  uint32_t unused = 0;
};

const bench::Pair& copy_pair() {
  const auto& all = bench::all_pairs();
  return *std::ranges::find(all, "copy4", &bench::Pair::name);
}

double guest_copy_ms(const std::string& selector, uint64_t bytes, Memcheck check) {
  const bench::Pair& pair = copy_pair();
  Device device = Device::open(selector);
  Buffer from = device.allocate(bytes), to = device.allocate(bytes);
  const std::string text(bench::guest_text(pair.file));
  const Kernel kernel = device.load_text(text, pair.isa, pair.file).kernel(pair.kernel);
  const auto vectors = static_cast<int32_t>(bytes / kVector);
  LaunchOptions options{.grid = {static_cast<uint32_t>(vectors) / kGroup}, .block = {kGroup}};
  options.memcheck = check;
  // The last words prove that all of it was copied.
  const std::vector<uint32_t> mark = {1, 22, 333, 4444};
  from.write(std::as_bytes(std::span(mark)), bytes - kVector);
  const double ms =
      least_ms([&] { return kernel.launch(options, from, to, vectors).check().times.dispatch_ms; });
  std::vector<uint32_t> got(mark.size());
  to.read(std::as_writable_bytes(std::span(got)), bytes - kVector);
  if (got != mark) throw Error(ErrorKind::guest, "the copy's last words are wrong");
  return ms;
}

}  // namespace

int copy_bandwidth(const DeviceArguments& a) {
  const DeviceInfo info = Device::open(a.device).info();
  if (info.type == "reference") return skip("the reference engine has no bandwidth of its own");
  const uint64_t large = info.type == "cpu" ? uint64_t{64} << 20 : uint64_t{1} << 30;
  const uint64_t bytes = a.small ? uint64_t{1} << 20 : std::min(large, info.max_arena / 4);
  vulkan::NativeDevice native(a.device);
  const size_t from = native.add_buffer(bytes), to = native.add_buffer(bytes);
  const auto rate = [&](double ms) { return 2e-6 * static_cast<double>(bytes) / ms; };
  const double own = rate(least_ms([&] { return native.copy(from, to, bytes); }));
  const auto print = [&](const char* name, double value) {
    Json row = figure(fmt::format("copy/{}", name), value, "GB/s");
    row["beside"] = "vkCmdCopyBuffer";
    row["other"] = own;
    row["bytes"] = bytes;
    print_row(row);
  };
  if (native.abilities().pointers) {
    const size_t kernel = native.add_kernel(bench::native_words(copy_pair(), native.abilities()));
    Push push;
    push.pointers[0] = native.address(from);
    push.pointers[1] = native.address(to);
    push.integers[0] = static_cast<int32_t>(bytes / kVector);
    std::vector<std::byte> words(sizeof push);
    std::memcpy(words.data(), &push, sizeof push);
    const Dim3 groups{static_cast<uint32_t>(bytes / kVector / kGroup)};
    print("glsl", rate(least_ms([&] { return native.run(kernel, words, groups); })));
  }
  print("unchecked", rate(guest_copy_ms(a.device, bytes, Memcheck::off)));
  print("checked", rate(guest_copy_ms(a.device, bytes, Memcheck::alloc)));
  return kPassed;
}

int compile_times(const DeviceArguments& a) {
  if (Device::open(a.device).info().type == "reference")
    return skip("the reference engine compiles nothing");
  // What was compiled before, by us or the driver, must not be found.
  for (const auto& [name, value] : {std::pair{"LANEWISE_CACHE_DIR", "off"},
                                    {"__GL_SHADER_DISK_CACHE", "0"},
                                    {"MESA_SHADER_CACHE_DISABLE", "true"}})
    ::setenv(name, value, 1);
  bool wrong = false;
  for (const bench::Pair& pair : bench::all_pairs()) {
    if (a.small && pair.name != "copy1") continue;
    const bench::Problem problem = pair.problem();
    for (const Memcheck check : {Memcheck::alloc, Memcheck::off}) {
      if (a.small && check != Memcheck::off) continue;
      const std::string name =
          fmt::format("compile/{}{}", pair.name, check == Memcheck::off ? "/off" : "");
      try {
        bench::GuestSide guest(pair, problem, a.device, check);
        guest.run();
        Json row = figure(name, guest.first_times().pipeline_ms, "ms");
        row["translate_ms"] = guest.first_times().translate_ms;
        if (const std::string what = guest.wrong(); !what.empty()) row["wrong"] = what;
        wrong = wrong || row.contains("wrong");
        print_row(row);
      } catch (const Error& e) {
        print_row({{"kind", "figure"}, {"name", name}, {"failed", e.what()}});
        wrong = true;
      }
    }
  }
  return wrong ? kWrong : kPassed;
}

}  // namespace lanewise::kit
