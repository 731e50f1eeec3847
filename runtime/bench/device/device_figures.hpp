// Figures of a device: first runs, checked memory access, tracing.
#pragma once

#include "runtime/bench/figure.hpp"

namespace lanewise::bench {

/// first-run/20, /200, /2000 instructions; checks/copy, /saxpy, /gather; trace/ of the same.
std::vector<Benchmark> device_benchmarks(const std::string& selector);

}  // namespace lanewise::bench
