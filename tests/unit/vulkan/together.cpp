// Short launches that share a submission: each does, and reports, what it would alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "tests/unit/vulkan/support.hpp"
// The compiled kernels, which need the standard types above.
#include "kernel_faulty.inc"
#include "kernel_mark.inc"

using namespace lanewise;
using namespace lanewise::test;
using guest::kArenaBase;

namespace {

/// Launches of one program; engines may keep what they make of it.
std::vector<LaunchRequest> launches_of(const ir::Program& program, std::vector<Dim3> grids,
                                       Dim3 block) {
  std::vector<LaunchRequest> out(grids.size());
  for (size_t i = 0; i < grids.size(); ++i) {
    out[i].program = &program;
    out[i].program_id = 1;
    out[i].grid = grids[i];
    out[i].block = block;
  }
  return out;
}

uint64_t submissions_of(vulkan::VulkanEngine& engine, const std::vector<LaunchRequest>& launches,
                        std::vector<LaunchOutcome>& outcomes) {
  const uint64_t before = engine.device().submissions();
  outcomes = engine.launch_in_turn(launches);
  return engine.device().submissions() - before;
}

/// Launches them until they need no more submissions than `enough`. How many share one is decided
/// by how long others took, which a busy machine stretches: for a minute it may try again.
/// Returns how often they were launched; 0 when they never got by with so few.
uint32_t rounds_until(uint64_t enough, vulkan::VulkanEngine& engine,
                      const std::vector<LaunchRequest>& launches,
                      std::vector<LaunchOutcome>& outcomes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  uint32_t rounds = 0;
  do {
    ++rounds;
    if (submissions_of(engine, launches, outcomes) <= enough) return rounds;
  } while (std::chrono::steady_clock::now() < end);
  return 0;
}

}  // namespace

TEST_CASE("short launches share submissions, and each runs once") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = engine_running(driver, kernel_module(kernel_mark, 1));
    engine->reserve(64);
    engine->write(kArenaBase, std::vector<std::byte>(64));
    auto launches = launches_of(program, std::vector<Dim3>(100, Dim3{4, 1, 1}), {1, 1, 1});
    std::vector<LaunchOutcome> outcomes;
    // Nothing is known of the kernel: the first ones run alone.
    submissions_of(*engine, launches, outcomes);
    CHECK(outcomes.size() == 100);
    const uint32_t rounds = rounds_until(8, *engine, launches, outcomes);
    REQUIRE(rounds > 0);
    for (const LaunchOutcome& o : outcomes) {
      CHECK(o.error == nullptr);
      CHECK(o.result.fault_count == 0);
      CHECK(o.result.wave_mode == "lane");
      CHECK(o.result.times.dispatch_ms >= 0);
    }
    CHECK(read_words(*engine, 0, 4) == std::vector<uint32_t>(4, 100 * (rounds + 1)));
    CHECK(read_words(*engine, 16, 4) == std::vector<uint32_t>(4, 0));
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("what can be ended from outside, or is refused, runs alone among the others") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = engine_running(driver, kernel_module(kernel_mark, 1));
    engine->reserve(64);
    engine->write(kArenaBase, std::vector<std::byte>(64));
    auto launches = launches_of(program, std::vector<Dim3>(9, Dim3{2, 1, 1}), {1, 1, 1});
    std::vector<LaunchOutcome> outcomes;
    submissions_of(*engine, launches, outcomes);
    const std::atomic<bool> no = false, yes = true;
    launches[2].cancel = &no;
    launches[4].timeout_seconds = 100;
    launches[6].cancel = &yes;
    launches[7].grid = {2, 0, 1};
    submissions_of(*engine, launches, outcomes);
    REQUIRE(outcomes.size() == 9);
    for (size_t i = 0; i < 9; ++i) {
      CAPTURE(i);
      CHECK((outcomes[i].error != nullptr) == (i == 6 || i == 7));
    }
    CHECK(read_words(*engine, 0, 3) == std::vector<uint32_t>{9 + 7, 9 + 7, 0});
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("faults belong to their launch") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    spirv::Module module = kernel_module(kernel_faulty, 4);
    module.fault_points = {{FaultKind::trap, 1}, {FaultKind::none, 2, ir::Space::global, 4}};
    const auto engine = engine_running(driver, module);
    engine->reserve(64);
    std::vector<Dim3> grids;
    for (uint32_t i = 0; i < 20; ++i) grids.push_back({1 + i % 7, 1, 1});
    const auto launches = launches_of(program, grids, {4, 1, 1});
    std::vector<LaunchOutcome> outcomes;
    submissions_of(*engine, launches, outcomes);
    CHECK(rounds_until(9, *engine, launches, outcomes) > 0);
    for (size_t i = 0; i < grids.size(); ++i) {
      CAPTURE(i);
      CHECK(outcomes[i].result.fault_count == 2 * grids[i].x);
      REQUIRE(outcomes[i].result.faults.size() == 2 * grids[i].x);
      CHECK(outcomes[i].result.faults.back().group[0] == grids[i].x - 1);
      CHECK(outcomes[i].result.faults.back().lane == 3);
    }
  }
}
