// Queues: order, events, faults that stay with their launch, several threads.
#include <chrono>
#include <thread>

#include "lanewise/queue.hpp"
#include "tests/unit/api/support.hpp"

using namespace api_test;
using lanewise::Buffer;
using lanewise::Device;
using lanewise::ErrorDetail;
using lanewise::Event;
using lanewise::Queue;

namespace {

std::span<const std::byte> bytes_of(const std::vector<float>& v) {
  return std::as_bytes(std::span(v));
}
std::span<std::byte> bytes_of(std::vector<float>& v) {
  return std::as_writable_bytes(std::span(v));
}

}  // namespace

TEST_CASE("queue: copies, launches and functions run in their order") {
  Device device = Device::open(selector());
  const auto scale = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  Buffer b = device.allocate(16);
  std::vector<float> got(4);
  float seen = 0;
  Queue queue(device);
  queue.write(b, bytes_of(std::vector<float>{1, 2, 3, 4}));
  const Event launched = queue.launch(scale, {.grid = {1}, .block = {4}}, {b, 10.0f, 4});
  queue.read(b, bytes_of(got));
  const Event called = queue.call([&] { seen = got[3]; });
  queue.finish();
  CHECK(called.done());
  CHECK(got == std::vector<float>{10, 21, 32, 43});
  CHECK(seen == 43);
  CHECK(launched.result().ok());
  CHECK(launched.began() <= launched.ended());
  CHECK(launched.ended() <= called.began());
  CHECK(refused([&] { called.result(); }) == ErrorDetail::invalid_value);
}

TEST_CASE("queue: what fails has its own event and stops nothing") {
  Device device = Device::open(selector());
  const auto scale = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  Buffer small = device.allocate(8), b = device.buffer(std::vector<float>{1, 2, 3, 4});
  lanewise::LaunchOptions checked{.grid = {1}, .block = {4}};
  checked.memcheck = lanewise::Memcheck::alloc;
  Queue queue(device);
  const Event faults = queue.launch(scale, checked, {small, 1.0f, 4});
  const Event wrong = queue.launch(scale, checked, {b, 1, 4});
  const Event throws =
      queue.call([] { throw lanewise::Error(lanewise::ErrorKind::usage, "mine"); });
  const Event right = queue.launch(scale, checked, {b, 10.0f, 4});
  CHECK(right.result().ok());
  CHECK(faults.result().fault_count == 2);
  CHECK(refused([&] { wrong.wait(); }) == ErrorDetail::argument_kind);
  std::string message;
  CHECK(refused([&] { throws.wait(); }, &message) != ErrorDetail::none);
  CHECK(message == "mine");
  CHECK(b.read<float>() == std::vector<float>{10, 21, 32, 43});
}

TEST_CASE("queue: one waits for an event of another") {
  Device device = Device::open(selector());
  std::atomic<bool> opened = false, passed = false;
  Queue first(device), second(device);
  const Event gate = first.call([&] {
    while (!opened) std::this_thread::yield();
  });
  second.wait_for(gate);
  const Event behind = second.call([&] { passed = true; });
  CHECK_FALSE(behind.wait_for(std::chrono::milliseconds(50)));
  CHECK_FALSE(passed);
  opened = true;
  behind.wait();
  CHECK(passed);
  CHECK(gate.ended() <= behind.began());
}

TEST_CASE("queue: two threads, two queues each, many launches") {
  Device device = Device::open(selector());
  const auto scale = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  constexpr int kLaunches = 100;
  float got[2][2] = {};
  const auto work = [&](int t) {
    Queue queues[2] = {Queue(device), Queue(device)};
    Buffer b[2] = {device.allocate(4), device.allocate(4)};
    const Buffer other = device.allocate(4);
    for (int i = 0; i < kLaunches; ++i)
      for (int q = 0; q < 2; ++q) {
        // Adds one: every launch must see the one before it.
        queues[q].launch(scale, {.grid = {1}, .block = {1}}, {other, 0.0f, 1});
        queues[q].call([&b, q] {
          const float before = b[q].read<float>()[0];
          b[q].write(std::vector<float>{before + 1});
        });
      }
    for (int q = 0; q < 2; ++q) {
      queues[q].finish();
      got[t][q] = b[q].read<float>()[0];
    }
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  for (const auto& thread : got)
    for (const float value : thread) CHECK(value == kLaunches);
}

TEST_CASE("queue: its end waits for its work, and its own function may be the last owner") {
  Device device = Device::open("reference");
  int done = 0;
  {
    Queue queue(device);
    for (int i = 0; i < 100; ++i) queue.call([&done] { ++done; });
  }
  CHECK(done == 100);
  auto owner = std::make_unique<Queue>(device);
  const Event ended = owner->call([&] { owner.reset(); });
  ended.wait();
  CHECK(owner == nullptr);
}

TEST_CASE("queue: misuse") {
  Device device = Device::open("reference"), other = Device::open("reference");
  const auto scale = other.load_text(kScale, lanewise::Isa::ptx).kernel();
  CHECK(refused([] { Queue queue{Device()}; }) == ErrorDetail::bad_handle);
  Queue queue(device);
  CHECK(refused([&] { queue.launch(lanewise::Kernel(), {}, {}); }) == ErrorDetail::bad_handle);
  CHECK(refused([&] { queue.launch(scale, {}, {}); }) == ErrorDetail::other_device);
  CHECK(refused([&] { queue.wait_for(Event()); }) == ErrorDetail::bad_handle);
  CHECK(refused([&] { Event().wait(); }) == ErrorDetail::bad_handle);
  CHECK(refused([&] { queue.call({}); }) == ErrorDetail::invalid_value);
  const Event inside = queue.call([&] { queue.finish(); });
  CHECK(refused([&] { inside.wait(); }) == ErrorDetail::invalid_value);
  Buffer b = device.allocate(4);
  device.close();
  const Event closed = queue.write(b, bytes_of(std::vector<float>{1}));
  CHECK(refused([&] { closed.wait(); }) == ErrorDetail::device_closed);
}
