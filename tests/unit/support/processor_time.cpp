#include <doctest/doctest.h>

#include <atomic>
#include <ctime>
#include <stop_token>
#include <thread>

#include "runtime/support/processor_time.hpp"

namespace {

double own_milliseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

void compute(double milliseconds) {
  for (const double end = own_milliseconds() + milliseconds; own_milliseconds() < end;) {
  }
}

}  // namespace

TEST_CASE("processor time counts the caller and new threads, and none that ran before") {
  std::atomic<bool> started = false;
  const std::jthread other([&](const std::stop_token& end) {
    started = true;
    while (!end.stop_requested()) {
    }
  });
  while (!started) std::this_thread::yield();
  const double begin = own_milliseconds();
  const lanewise::ProcessorTime time;
  compute(100);
  std::jthread([] { compute(50); }).join();
  const double found = time.milliseconds(), own = own_milliseconds() - begin;
  CHECK(found > 145);
  CHECK(found < own + 50 + 40);
}
