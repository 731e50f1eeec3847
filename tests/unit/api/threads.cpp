// Handles used from several threads at once, and launches that another thread ends.
#include <chrono>
#include <thread>

#include "tests/unit/api/support.hpp"

using namespace api_test;
using lanewise::Buffer;
using lanewise::Device;
using lanewise::ErrorDetail;

namespace {

/// Starts the work on so many threads and waits for all.
template <typename Work>
void on_threads(int count, const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&work, t] { work(t); });
  for (std::thread& t : threads) t.join();
}

/// One thread's share: buffers of its own, its own factor, results checked each time. True when all
/// of them were right.
bool share(Device& device, const lanewise::Kernel& kernel, int thread) {
  for (int turn = 0; turn < 25; ++turn) {
    const auto n = static_cast<uint32_t>(32 + thread * 7 + turn);
    const auto factor = static_cast<float>(thread + 2);
    Buffer b = device.buffer(std::vector<float>(n, static_cast<float>(turn)));
    kernel.launch({.grid = {(n + 31) / 32}, .block = {32}}, b, factor, n).check();
    const auto got = b.read<float>();
    for (uint32_t i = 0; i < n; ++i)
      if (got[i] != static_cast<float>(turn) * factor + static_cast<float>(i)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("four threads on one device and one kernel get their own results") {
  Device device = Device::open(selector());
  const auto kernel = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  bool right[4] = {};
  on_threads(4, [&](int t) { right[t] = share(device, kernel, t); });
  for (int t = 0; t < 4; ++t) {
    CAPTURE(t);
    CHECK(right[t]);
  }
}

TEST_CASE("threads that load modules, allocate and free on one device") {
  Device device = Device::open(selector());
  bool right[4] = {};
  on_threads(4, [&](int t) {
    right[t] = true;
    for (int i = 0; i < 8; ++i) {
      const auto module = device.load_text(kScale, lanewise::Isa::ptx);
      Buffer b = device.buffer(std::vector<float>(8, 1.0f));
      module.kernel().launch({.grid = {1}, .block = {8}}, b, static_cast<float>(t), 8).check();
      right[t] = right[t] && b.read<float>()[7] == static_cast<float>(t + 7);
    }
  });
  for (const bool r : right) CHECK(r);
}

TEST_CASE("devices are opened, used and closed from several threads") {
  bool right[3] = {};
  on_threads(3, [&](int t) {
    Device device = Device::open(selector());
    right[t] = share(device, device.load_text(kScale, lanewise::Isa::ptx).kernel(), t);
    device.close();
  });
  for (const bool r : right) CHECK(r);
}

TEST_CASE("closing a device while others use it: each call works or is refused") {
  Device device = Device::open(selector());
  const auto kernel = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  ErrorDetail ends[3] = {};
  std::atomic<int> running = 0;
  on_threads(4, [&](int t) {
    if (t == 3) {
      while (running < 3) std::this_thread::yield();
      device.close();
      return;
    }
    Buffer b = device.allocate(128);
    ++running;
    while (ends[t] == ErrorDetail::none)
      ends[t] = refused([&] { kernel.launch({.grid = {1}, .block = {32}}, b, 1.0f, 32).check(); });
  });
  for (const ErrorDetail end : ends) CHECK(end == ErrorDetail::device_closed);
}

TEST_CASE("a launch is cancelled from another thread, and the device stays usable") {
  Device device = Device::open(selector());
  const auto endless = device.load_text(kEndless, lanewise::Isa::ptx).kernel();
  Buffer b = device.allocate(4);
  std::atomic<bool> cancel = false;
  lanewise::LaunchOptions options{.grid = {1}, .block = {1}};
  options.policies["steps"] = "unlimited";
  options.timeout_seconds = 60;  // so that a failure is no hang
  options.cancel = &cancel;
  ErrorDetail end = ErrorDetail::none;
  std::thread runs([&] { end = refused([&] { endless.launch(options, b); }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  cancel = true;
  runs.join();
  // lavapipe ends long loops by itself, which the device's own budget reports.
  const bool cut = device.info().driver.find("llvmpipe") != std::string::npos;
  if (!cut) CHECK(end == ErrorDetail::cancelled);
  CHECK(refused([&] { endless.launch(options, b); }) == ErrorDetail::cancelled);
  const auto scale = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  Buffer four = device.buffer(std::vector<float>{1, 2, 3, 4});
  scale.launch({.grid = {1}, .block = {4}}, four, 10.0f, 4).check();
  CHECK(four.read<float>() == std::vector<float>{10, 21, 32, 43});
}
