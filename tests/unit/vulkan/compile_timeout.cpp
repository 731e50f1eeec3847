// Time limits on what cannot be interrupted, the translator for one; drivers' compilers are the
// business of uninterrupted.cpp.
#include "runtime/vulkan/pipeline/compile_timeout.hpp"

#include <doctest/doctest.h>

#include <future>
#include <thread>

#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using vulkan::Clock;

TEST_CASE("work with a time limit ends, throws, or is left to itself") {
  CHECK(vulkan::deadline_after(0) == Clock::time_point::max());
  std::thread::id worker;
  const auto note = [&] { worker = std::this_thread::get_id(); };
  CHECK(vulkan::ends_by(Clock::time_point::max(), note));
  CHECK(worker == std::this_thread::get_id());
  CHECK(vulkan::ends_by(vulkan::deadline_after(60), note));
  CHECK(worker != std::this_thread::get_id());
  CHECK_THROWS_AS(
      vulkan::ends_by(vulkan::deadline_after(60), [] { throw std::out_of_range("thrown"); }),
      std::out_of_range);

  const auto gate = std::make_shared<std::promise<void>>(), passed = gate;
  const auto done = std::make_shared<std::promise<void>>();
  const auto start = Clock::now();
  CHECK(!vulkan::ends_by(vulkan::deadline_after(0.05), [gate, done] {
    gate->get_future().wait();
    done->set_value();
  }));
  CHECK(seconds_since(start) >= 0.05);
  passed->set_value();
  done->get_future().wait();  // it went on by itself
}

TEST_CASE("a translation that takes longer than the limit is given up") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    struct Shared {
      std::promise<void> gate, translated;
    };
    const auto shared = std::make_shared<Shared>();
    auto engine = vulkan::make_engine_with(
        driver.part, checked_options(),
        [shared](const ir::Program&, const spirv::Options&, const spirv::Target&) {
          shared->gate.get_future().wait();
          shared->translated.set_value();
          return spirv::Module();
        });
    engine->reserve(64);
    const Error error = error_of([&] { engine->launch(limited(program, 0.1)); });
    CHECK(error.kind() == ErrorKind::budget);
    CHECK(mentions(error, "'by_hand' was still being translated when its 0.1 s were over"));
    CHECK(mentions(error, engine->info().name));
    CHECK(vulkan::still_running());
    CHECK(error_of([&] { engine->launch(limited(program, 0)); }).kind() == ErrorKind::device);
    CHECK(error_of([&] { engine->reserve(1 << 20); }).kind() == ErrorKind::device);
    engine.reset();
    shared->gate.set_value();  // the translator ends after its engine
    shared->translated.get_future().wait();
  }
}
