// Each Vulkan call fails once: a clear error or none, nothing is left behind, the next device
// works.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "lanewise/error.hpp"
#include "tests/faults/script.hpp"
#include "tests/faults/vulkan_shim.hpp"

using namespace lanewise;
using faults::Outcome;

TEST_CASE("a run in which the Nth Vulkan call fails") {
  if (faults::selector() == "reference") return;
  const Outcome good = faults::scripted_run();
  REQUIRE(good.scaled == std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16});
  REQUIRE(good.counted[63] == 64);
  REQUIRE(good.fault.find("out-of-range") != std::string::npos);
  shim::arm(0);
  REQUIRE(faults::scripted_run() == good);
  const long steps = shim::calls();
  REQUIRE_MESSAGE(steps > 20, "the shim does not stand in the loader's place");
  CHECK_MESSAGE(shim::living() == 0, "objects are left after a run without a fault");
  long errors = 0, borne = 0;
  for (const long step : faults::chosen_steps(steps, 9)) {
    shim::arm(step);
    std::string reported;
    try {
      const Outcome all_the_same = faults::scripted_run();
      CHECK(all_the_same == good);
      ++borne;
    } catch (const Error& e) {
      reported = e.what();
      CHECK(e.kind() == ErrorKind::device);
      CHECK(reported.size() > 20);
      ++errors;
    }
    const char* call = shim::failed();
    CAPTURE(step);
    CAPTURE(reported);
    const std::string name = call != nullptr ? call : "none";
    CAPTURE(name);
    CHECK(call != nullptr);
    CHECK_MESSAGE(shim::living() == 0, "objects are left behind");
    shim::arm(0);
    CHECK(faults::scripted_run() == good);
    CHECK(shim::living() == 0);
  }
  std::printf("%ld calls a run; %ld ended it with an error, %ld were borne\n", steps, errors,
              borne);
  CHECK(errors > 0);
}
