// What a small launch costs when one like it went before: allocations and Vulkan calls, counted.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

#include "lanewise/lanewise.hpp"
#include "lanewise/queue.hpp"
#include "tests/faults/add_kernel.hpp"
#include "tests/faults/allocations.hpp"
#include "tests/faults/script.hpp"
#include "tests/faults/vulkan_shim.hpp"

using namespace lanewise;

namespace {

const LaunchOptions kEight{.grid = {1}, .block = {8}};

bool on_vulkan() {
  return faults::selector() != "reference";
}

std::string report(const FaultReport& f) {
  return format(f);
}

/// What does not depend on the clock.
bool same(const Result& a, const Result& b) {
  return a.fault_count == b.fault_count && a.faults.size() == b.faults.size() &&
         std::ranges::equal(a.faults, b.faults, {}, report, report) && a.wave_mode == b.wave_mode &&
         a.wave_reason == b.wave_reason && a.policies == b.policies &&
         a.policies.lines() == b.policies.lines() && a.printed == b.printed;
}

struct Cost {
  long allocations = 0, calls = 0;
};

template <typename Work>
Cost cost_of(const Work& work) {
  const long allocations = faults::allocations_made(), calls = shim::calls();
  work();
  return {faults::allocations_made() - allocations, shim::calls() - calls};
}

}  // namespace

TEST_CASE("a launch like the one before allocates little and records nothing") {
  Device device = Device::open(faults::selector());
  Buffer p = device.buffer(std::vector<unsigned>(8, 5), "p");
  const Kernel kernel = device.load_text(kAdd, Isa::ptx).kernel();
  const Result first = kernel.launch(kEight, p, 2);
  for (int i = 0; i < 3; ++i) kernel.launch(kEight, p, 2).check();
  Cost most;
  for (int i = 0; i < 50; ++i) {
    Result result;
    const Cost cost = cost_of([&] { result = kernel.launch(kEight, p, 2); });
    most = {std::max(most.allocations, cost.allocations), std::max(most.calls, cost.calls)};
    CHECK(same(result, first));
  }
  CHECK(p.read<unsigned>() == std::vector<unsigned>(8, 5 + 54 * 2));
  CHECK(first.policies.at("steps") == "67108864");
  std::printf("a repeated launch: %ld allocations, %ld Vulkan calls\n", most.allocations,
              most.calls);
  CHECK(most.allocations <= (on_vulkan() ? 10 : 14));
  // Its fence is reset, it is submitted, it is waited for.
  CHECK(most.calls == (on_vulkan() ? 3 : 0));
}

TEST_CASE("launches that differ from the one before are not taken for it") {
  Device device = Device::open(faults::selector());
  Buffer p = device.buffer(std::vector<unsigned>(8, 0), "p"),
         q = device.buffer(std::vector<unsigned>(16, 0), "q");
  const Kernel kernel = device.load_text(kAdd, Isa::ptx).kernel();
  unsigned in_p = 0, in_q = 0;
  for (unsigned round = 1; round <= 4; ++round) {
    CAPTURE(round);
    kernel.launch(kEight, p, 1).check();
    kernel.launch(kEight, p, round).check();  // other arguments
    kernel.launch(kEight, p, round).check();
    in_p += 1 + 2 * round;
    kernel.launch(kEight, q, round).check();                       // another buffer
    kernel.launch({.grid = {2}, .block = {8}}, q, round).check();  // another grid
    in_q += round;
    CHECK(p.read<unsigned>() == std::vector<unsigned>(8, in_p));
    CHECK(q.read<unsigned>()[7] == 2 * in_q);
    CHECK(q.read<unsigned>()[8] == in_q);
    // Faults are counted anew each time, and leave nothing for the next.
    const LaunchOptions nine{.grid = {1}, .block = {9}}, eleven{.grid = {1}, .block = {11}};
    CHECK(kernel.launch(eleven, p, 0).fault_count == 3);
    const Result bad = kernel.launch(nine, p, 0);
    CHECK(bad.fault_count == 1);
    REQUIRE(bad.faults.size() == 1);
    CHECK(bad.faults[0].lane == 8);
    CHECK(same(kernel.launch(nine, p, 0), bad));
    CHECK(kernel.launch(kEight, p, 0).ok());
    // The arena moves: what was recorded has its old place.
    const Buffer large = device.allocate((uint64_t{1} << 20) << round, "large");
    kernel.launch(kEight, p, 0).check();
    kernel.launch(kEight, p, 1).check();
    ++in_p;
    CHECK(p.read<unsigned>() == std::vector<unsigned>(8, in_p));
  }
}
