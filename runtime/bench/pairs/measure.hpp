// Pairs measured: times on a device that runs, statistics of a driver's compiler.
#pragma once

#include "runtime/bench/figure.hpp"
#include "runtime/bench/pairs/pair.hpp"
#include "runtime/vulkan/pipeline/statistics.hpp"

namespace lanewise::bench {

/// glsl/NAME (checked) and glsl/NAME/off of every pair; of code, also glsl/NAME/arena, and of each
/// with /launch behind it the version for the launch that is timed.
std::vector<Benchmark> pair_benchmarks(const std::string& selector);

/// What the driver's compiler makes of both sides.
struct CodeFigure {
  std::string name, device, driver;
  std::vector<vulkan::Statistic> translated, glsl;
  bool counts = false;  ///< one of the kernels that targets are stated for
  std::string failed;   ///< why there is nothing in `translated`
};
struct CodeBenchmark {
  std::string name;
  std::function<CodeFigure()> measure;
};
std::vector<CodeBenchmark> code_benchmarks(const std::string& selector);

}  // namespace lanewise::bench
