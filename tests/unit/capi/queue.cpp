// Queues in C: order, events, results, what an enqueue costs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "tests/support/sanitized.hpp"
#include "tests/unit/capi/support.hpp"

using namespace capi_test;
using api_test::kEndless;
using api_test::kScale;

namespace {

using Queue = std::unique_ptr<lw_queue, Releases<lw_queue_release>>;
using Event = std::unique_ptr<lw_event, Releases<lw_event_release>>;

Queue queue_on(const Device& device) {
  return made<Queue>([&](auto out) { return lw_queue_create(device.get(), out); });
}

}  // namespace

TEST_CASE("C: a queue copies, launches and calls in order") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 16);
  const Queue queue = queue_on(device);
  const std::vector<float> in = {1, 2, 3, 4};
  std::vector<float> out(4);
  REQUIRE(lw_queue_write(queue.get(), b.get(), 0, in.data(), 16, nullptr) == LW_OK);
  const lw_launch_options o = options(1, 4);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(10), lw_arg_u32(4)};
  const Event launched = made<Event>(
      [&](auto event) { return lw_queue_launch(queue.get(), k.get(), &o, args, 3, event); });
  REQUIRE(lw_queue_read(queue.get(), b.get(), 0, out.data(), 16, nullptr) == LW_OK);
  float seen = 0;
  struct Seen {
    const std::vector<float>* from;
    float* to;
  } user{&out, &seen};
  const Event called = made<Event>([&](auto event) {
    return lw_queue_call(
        queue.get(),
        [](void* data) {
          const auto* s = static_cast<Seen*>(data);
          *s->to = (*s->from)[3];
        },
        &user, event);
  });
  REQUIRE(lw_event_wait(called.get(), nullptr) == LW_OK);
  CHECK(out == std::vector<float>{10, 21, 32, 43});
  CHECK(seen == 43);
  lw_result* raw = nullptr;
  REQUIRE(lw_event_wait(launched.get(), &raw) == LW_OK);
  const Result result(raw);
  lw_result_info info{};
  info.struct_size = sizeof info;
  REQUIRE(lw_result_get_info(result.get(), &info) == LW_OK);
  CHECK(info.fault_count == 0);
  uint64_t began = 0, ended = 0, later = 0, last = 0;
  REQUIRE(lw_event_times(launched.get(), &began, &ended) == LW_OK);
  REQUIRE(lw_event_times(called.get(), &later, &last) == LW_OK);
  CHECK(began < ended);
  CHECK(ended <= later);
}

TEST_CASE("C: events have the status that the call would have had") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const Buffer small = buffer(device, 8);
  const Queue queue = queue_on(device);
  lw_launch_options o = options(1, 4);
  o.memcheck = LW_MEMCHECK_ALLOC;
  const lw_arg args[] = {lw_arg_buffer(small.get()), lw_arg_f32(1), lw_arg_u32(4)};
  const Event faults = made<Event>(
      [&](auto event) { return lw_queue_launch(queue.get(), k.get(), &o, args, 3, event); });
  const Event wrong = made<Event>(
      [&](auto event) { return lw_queue_launch(queue.get(), k.get(), &o, args, 2, event); });
  CHECK(lw_event_wait(wrong.get(), nullptr) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_ARGUMENT_COUNT);
  for (int i = 0; i < 2; ++i) {
    lw_result* raw = nullptr;
    CHECK(lw_event_wait(faults.get(), &raw) == LW_ERROR_GUEST);
    CHECK(lw_last_detail() == LW_DETAIL_FAULT);
    const Result result(raw);
    CHECK(result != nullptr);
  }
  CHECK(lw_queue_launch(queue.get(), k.get(), nullptr, args, 3, nullptr) == LW_ERROR_USAGE);
  CHECK(lw_queue_call(queue.get(), nullptr, nullptr, nullptr) == LW_ERROR_USAGE);
  CHECK(lw_queue_finish(nullptr) == LW_ERROR_USAGE);
  CHECK(lw_queue_finish(queue.get()) == LW_OK);
}

TEST_CASE("C: a launch in a queue is cancelled, even when its token was released") {
  const Device device = open("reference");
  const Kernel k = kernel(load(device, kEndless));
  const Buffer b = buffer(device, 4);
  const Queue queue = queue_on(device);
  Cancel cancel = made<Cancel>([](auto out) { return lw_cancel_create(out); });
  lw_launch_options o = options(1, 1);
  o.cancel = cancel.get();
  o.timeout_seconds = 60;
  const char* const policies[] = {"steps=unlimited"};
  o.policies = policies;
  o.policy_count = 1;
  const lw_arg args[] = {lw_arg_buffer(b.get())};
  const Event event = made<Event>(
      [&](auto out) { return lw_queue_launch(queue.get(), k.get(), &o, args, 1, out); });
  int done = 1;
  REQUIRE(lw_event_wait_for(event.get(), 0.05, &done) == LW_OK);
  CHECK(done == 0);
  REQUIRE(lw_cancel_request(cancel.get()) == LW_OK);
  cancel.reset();
  CHECK(lw_event_wait(event.get(), nullptr) == LW_ERROR_BUDGET);
  CHECK(lw_last_detail() == LW_DETAIL_CANCELLED);
}

TEST_CASE("C: a queue waits for another's event") {
  const Device device = open("reference");
  const Queue first = queue_on(device), second = queue_on(device);
  std::atomic<bool> opened = false;
  const auto wait = [](void* flag) {
    while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
  };
  const Event gate =
      made<Event>([&](auto out) { return lw_queue_call(first.get(), wait, &opened, out); });
  REQUIRE(lw_queue_wait_event(second.get(), gate.get()) == LW_OK);
  const Event behind = made<Event>([&](auto out) {
    return lw_queue_call(
        second.get(), [](void*) {}, nullptr, out);
  });
  int done = 1;
  REQUIRE(lw_event_wait_for(behind.get(), 0.05, &done) == LW_OK);
  CHECK(done == 0);
  opened = true;
  REQUIRE(lw_event_wait_for(behind.get(), 30, &done) == LW_OK);
  CHECK(done == 1);
}

TEST_CASE("C: putting a launch in costs the caller little") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const Buffer b = buffer(device, 4);
  const Queue queue = queue_on(device);
  const lw_launch_options o = options(1, 1);
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(1), lw_arg_u32(1)};
  REQUIRE(lw_kernel_launch(k.get(), &o, args, 3, nullptr) == LW_OK);
  timespec before{}, after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  for (int i = 0; i < 1000; ++i) lw_queue_launch(queue.get(), k.get(), &o, args, 3, nullptr);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  REQUIRE(lw_queue_finish(queue.get()) == LW_OK);
  const double us = (static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
                     static_cast<double>(after.tv_nsec - before.tv_nsec)) /
                    1e6;
  MESSAGE("an enqueue takes " << us << " us of the caller's CPU time");
  if (!lanewise::test::kThreadSanitized) CHECK(us < (lanewise::test::kSanitized ? 60 : 15));
}
namespace {

uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * 4096;
}

/// LANEWISE_QUEUE_LAUNCHES asks for more than the usual few.
uint32_t launches_wanted() {
  const char* text = std::getenv("LANEWISE_QUEUE_LAUNCHES");
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 300;
}

}  // namespace

TEST_CASE("C: two threads with two queues each, many launches, and memory stays flat") {
  const Device device = open();
  const Kernel k = kernel(load(device, kScale));
  const uint32_t launches = launches_wanted();
  constexpr uint32_t kPart = 50;  // between two waits
  uint64_t after_warming = 0;
  std::atomic<uint32_t> wrong = 0;
  // A thread's share: each launch adds 1 to the second of two floats (x * 1 + i).
  const auto work = [&](bool measures) {
    const Queue queues[2] = {queue_on(device), queue_on(device)};
    const Buffer buffers[2] = {buffer(device, 8), buffer(device, 8)};
    const lw_launch_options o = options(1, 2);
    for (uint32_t done = 0; done < launches; done += kPart) {
      for (uint32_t i = done; i < std::min(launches, done + kPart); ++i)
        for (int q = 0; q < 2; ++q) {
          const lw_arg args[] = {lw_arg_buffer(buffers[q].get()), lw_arg_f32(1), lw_arg_u32(2)};
          lw_event* event = nullptr;
          if (lw_queue_launch(queues[q].get(), k.get(), &o, args, 3, &event) != LW_OK) ++wrong;
          lw_event_release(event);
        }
      for (int q = 0; q < 2; ++q)
        if (lw_queue_finish(queues[q].get()) != LW_OK) ++wrong;
      if (measures && after_warming == 0 && done >= launches / 5) after_warming = resident_bytes();
    }
    for (int q = 0; q < 2; ++q) {
      float got[2] = {};
      if (lw_buffer_read(buffers[q].get(), 0, got, 8) != LW_OK || got[0] != 0 ||
          got[1] != static_cast<float>(launches))
        ++wrong;
    }
  };
  std::thread other([&] { work(false); });
  work(true);
  other.join();
  CHECK(wrong == 0);
  const auto grown = static_cast<int64_t>(resident_bytes() - after_warming);
  const uint64_t all = uint64_t{4} * launches;
  MESSAGE(all << " launches; resident memory grew by " << grown / 1024 << " KiB");
  if (!lanewise::test::kSanitized && !lanewise::test::kThreadSanitized)
    CHECK(grown < 4 << 20);  // sanitizers keep what was freed
}
