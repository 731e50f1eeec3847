// Makes the launch and the inputs of a difference small.
#pragma once

#include <chrono>
#include <functional>

#include "lanewise/launch.hpp"
#include "runtime/diff/inputs.hpp"

namespace lanewise::diff {

struct Case {
  LaunchOptions options;
  std::vector<Input> inputs;
};

/// Smaller grids and blocks, then zeros in place of made-up numbers, as long as `differs` says
/// that the difference is still there. Returns the number of times that it was asked.
uint32_t shrink(Case& found, const std::function<bool(const Case&)>& differs,
                std::chrono::steady_clock::time_point end);

}  // namespace lanewise::diff
