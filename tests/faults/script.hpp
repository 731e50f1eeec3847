// A run of the library from opening a device to reading results, to be failed at any step.
#pragma once

#include <string>
#include <vector>

namespace lanewise::faults {

struct Outcome {
  std::vector<float> scaled;
  std::vector<unsigned> counted;
  std::string wave_mode, fault;
  bool operator==(const Outcome&) const = default;
};

/// The device under test.
std::string selector();
/// Opens it, loads modules, launches, grows the arena, meets a fault, reads everything back and
/// closes all. Whatever goes wrong leaves as an exception.
Outcome scripted_run();

/// Every `stride`th of `steps` steps, from 1 on; all of them with LANEWISE_TEST_EVERY_STEP=1,
/// only N with LANEWISE_TEST_STEP=N.
std::vector<long> chosen_steps(long steps, long stride);

}  // namespace lanewise::faults
