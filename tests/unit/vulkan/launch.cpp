#include <doctest/doctest.h>

#include <thread>

#include "runtime/layout/host_shader.h"
#include "tests/unit/vulkan/support.hpp"
// The compiled kernels, which need the standard types above.
#include "kernel_backed.inc"
#include "kernel_describe.inc"
#include "kernel_faulty.inc"
#include "kernel_mark.inc"
#include "kernel_spin.inc"
#include "kernel_stubborn.inc"

using namespace lanewise;
using namespace lanewise::test;
using namespace lanewise::host_shader;
using guest::kArenaBase;

namespace {

LaunchRequest request_for(const ir::Program& program, Dim3 grid, Dim3 block = {1, 1, 1}) {
  LaunchRequest request;
  request.program = &program;
  request.grid = grid;
  request.block = block;
  return request;
}

std::vector<std::byte> words_as_bytes(const std::vector<uint32_t>& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("chunks cover a grid exactly once, in order, within every limit") {
  struct Case {
    Dim3 grid;
    std::array<uint32_t, 3> limit;
    uint64_t most;
  };
  for (const Case& c :
       {Case{{7, 5, 3}, {65535, 65535, 65535}, 1000}, Case{{7, 5, 3}, {65535, 65535, 65535}, 1},
        Case{{7, 5, 3}, {65535, 65535, 65535}, 8}, Case{{7, 5, 3}, {65535, 65535, 65535}, 36},
        Case{{7, 5, 3}, {3, 2, 1}, 1000}, Case{{1, 1, 9}, {4, 4, 2}, 100},
        Case{{0, 5, 5}, {4, 4, 4}, 100}}) {
    vulkan::ChunkPlan plan(c.grid, c.limit);
    std::vector<unsigned> visits(c.grid.total());
    while (!plan.done()) {
      const vulkan::Chunk chunk = plan.next(c.most);
      REQUIRE(chunk.groups() > 0);
      CHECK(chunk.groups() <= c.most);
      for (int i = 0; i < 3; ++i) CHECK(chunk.count[i] <= c.limit[i]);
      for (uint32_t z = 0; z < chunk.count[2]; ++z) {
        for (uint32_t y = 0; y < chunk.count[1]; ++y) {
          for (uint32_t x = 0; x < chunk.count[0]; ++x) {
            const uint64_t at =
                chunk.base[0] + x +
                uint64_t{c.grid.x} * (chunk.base[1] + y + uint64_t{c.grid.y} * (chunk.base[2] + z));
            REQUIRE(at < visits.size());
            ++visits[at];
          }
        }
      }
    }
    CHECK(std::ranges::count(visits, 1U) == static_cast<int64_t>(visits.size()));
  }
}

TEST_CASE("every group of a grid beyond the device's limits runs once") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = engine_running(driver, kernel_module(kernel_mark, 1));
    for (const Dim3 grid : {Dim3{200001, 2, 1}, Dim3{3, 70001, 1}, Dim3{2, 1, 70001}, Dim3{}}) {
      std::vector<uint32_t> zeros(grid.total());
      engine->reserve(zeros.size() * 4);
      engine->write(kArenaBase, words_as_bytes(zeros));
      const LaunchResult result = engine->launch(request_for(program, grid));
      CHECK(result.fault_count == 0);
      CHECK(result.wave_mode == "lane");
      const auto marks = read_words(*engine, 0, grid.total());
      CHECK(std::ranges::count(marks, 1U) == static_cast<int64_t>(marks.size()));
    }
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("the launch block, parameters and allocations arrive as INTERFACE.md says") {
  ir::Program program = empty_program();
  program.shared_bytes = 20;
  const std::vector<Allocation> allocations = {{kArenaBase, 1024, "a", false},
                                               {kArenaBase + 0x1'0000'0000, 512, "b", true}};
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = engine_running(driver, kernel_module(kernel_describe, 1));
    engine->reserve(1024);
    LaunchRequest request = request_for(program, {1, 1, 1}, {2, 3, 4});
    request.params = words_as_bytes({11, 22, 33});
    request.param_address = kArenaBase + 256;
    request.step_budget = 0x1'2345'6789;
    request.dynamic_shared = 40;
    request.memcheck = Memcheck::alloc;
    request.allocations = allocations;
    program.param_bytes = 12;
    engine->launch(request);
    const auto w = read_words(*engine, 0, 128);
    const auto pair = [&](size_t i) { return w[i] | uint64_t{w[i + 1]} << 32; };
    CHECK((pair(0) != 0) == (engine->target().bda));
    CHECK(pair(2) == 1024);
    CHECK(std::vector<uint32_t>(w.begin() + 4, w.begin() + 10) ==
          std::vector<uint32_t>{1, 1, 1, 2, 3, 4});
    CHECK(pair(10) == request.step_budget);
    CHECK(w[12] == 40);
    CHECK(pair(13) == request.param_address);
    CHECK(w[17] == 32);
    CHECK(w[22] == 12);
    CHECK(std::equal(w.begin(), w.begin() + 4, w.begin() + 96));
    CHECK(std::vector<uint32_t>(w.begin() + 104, w.begin() + 108) ==
          std::vector<uint32_t>{11, 22, 33, 0});
    CHECK(std::vector<uint32_t>(w.begin() + 64, w.begin() + 67) ==
          std::vector<uint32_t>{11, 22, 33});
    CHECK(w[80] == 2);
    // The table of granules: of 128 KiB here, 4 GiB apart, and behind the list.
    CHECK(w[80 + GRANULE_COUNT] == 32769);
    CHECK(w[80 + GRANULE_SHIFT] == 17);
    CHECK(w[80 + FIRST_GRANULE] == FIRST_ENTRY + 2 * ENTRY_WORDS);
    CHECK(pair(80 + GRANULES_START) == kArenaBase);
    CHECK(w[80 + FIRST_STEP] == 0);
  }
}

TEST_CASE("faults are decoded, counted, limited and sorted by group and lane") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    spirv::Module module = kernel_module(kernel_faulty, 4);
    module.fault_points = {{FaultKind::trap, 1}, {FaultKind::none, 2, ir::Space::global, 4}};
    const auto engine = engine_running(driver, module);
    engine->reserve(64);
    const LaunchResult few = engine->launch(request_for(program, {2, 3, 2}, {4, 1, 1}));
    REQUIRE(few.fault_count == 24);
    REQUIRE(few.faults.size() == 24);
    for (uint32_t i = 0; i < 24; ++i) {
      const Fault& f = few.faults[i];
      CHECK(f.kind == FaultKind::out_of_range);
      CHECK(f.size == 4);
      CHECK(f.site == 2);
      CHECK(f.lane == (i % 2 == 0 ? 1U : 3U));
      CHECK(f.address == 0x1'0000'0000 + f.lane);
      CHECK(f.group[0] == i / 2 % 2);
      CHECK(f.group[1] == i / 4 % 3);
      CHECK(f.group[2] == i / 12);
    }
    const LaunchResult many = engine->launch(request_for(program, {500, 1, 1}, {4, 1, 1}));
    CHECK(many.fault_count == 1000);
    CHECK(many.faults.size() == kMaxFaults);
  }
}

TEST_CASE("an endless kernel ends at the time limit, and the engine goes on") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = engine_running(driver, kernel_module(kernel_spin, 8));
    engine->reserve(64);
    LaunchRequest request = request_for(program, {20000, 1, 1}, {8, 1, 1});
    request.params = words_as_bytes({1});
    engine->launch(request);  // compiled before the time counts
    request.params = words_as_bytes({0});
    request.timeout_seconds = 0.3;
    const Error error = error_of([&] { engine->launch(request); });
    CHECK(error.kind() == ErrorKind::budget);
    CHECK(mentions(error, "0.3 s"));
    CHECK(read_words(*engine, 0, 4) == std::vector<uint32_t>(4, 7));
    CHECK(error_of([&] { engine->launch(request); }).kind() == ErrorKind::budget);
  }
}

TEST_CASE("a used-up step budget in one lane stops the others") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    spirv::Module module = kernel_module(kernel_spin, 8);
    module.fault_points = {{FaultKind::step_budget, 3}};
    const auto engine = engine_running(driver, module);
    engine->reserve(64);
    LaunchRequest request = request_for(program, {20000, 1, 1}, {8, 1, 1});
    request.params = words_as_bytes({1});
    request.timeout_seconds = 60;  // not reached: the host sees the fault first
    const LaunchResult result = engine->launch(request);
    REQUIRE(result.faults.size() == 1);
    CHECK(result.faults[0].kind == FaultKind::step_budget);
    CHECK(result.faults[0].site == 3);
  }
}

TEST_CASE("shared memory in device memory: a slot for each group of a chunk") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    spirv::Module module = kernel_module(kernel_backed, 4);
    module.backing_bytes = 1000000;  // 67 slots: many chunks
    const auto engine = engine_running(driver, module);
    engine->reserve(4000);
    engine->launch(request_for(program, {1000, 1, 1}, {4, 1, 1}));
    const auto words = read_words(*engine, 0, 1000);
    for (uint32_t i = 0; i < 1000; ++i) REQUIRE(words[i] == i + 1);
  }
}

TEST_CASE("a kernel that never stops makes the engine refuse work but not hang") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    auto engine = engine_running(driver, kernel_module(kernel_stubborn, 8));
    engine->reserve(64);
    engine->set_stop_timeout(std::chrono::milliseconds(100));
    // Long enough on this machine, and over soon after the test.
    LaunchRequest request = request_for(program, {100 * std::thread::hardware_concurrency(), 1, 1});
    request.params = words_as_bytes({60000});
    request.timeout_seconds = 0.1;
    CHECK(error_of([&] { engine->launch(request); }).kind() == ErrorKind::budget);
    CHECK(error_of([&] { engine->launch(request); }).kind() == ErrorKind::device);
    CHECK(error_of([&] { engine->reserve(1 << 20); }).kind() == ErrorKind::device);
    CHECK(read_words(*engine, 0, 1)[0] == 0);  // the host's view is still there
    engine.reset();
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("a module the device cannot take is a device error") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    const auto engine = engine_running(driver, kernel_module(kernel_mark, 1 << 20));
    engine->reserve(64);
    const Error error = error_of([&] { engine->launch(request_for(program, {1, 1, 1})); });
    CHECK(error.kind() == ErrorKind::device);
    CHECK(mentions(error, "1048576"));
  }
}
