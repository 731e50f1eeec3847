// What a small launch costs beside a submission that does nothing.
#pragma once

#include "runtime/bench/figure.hpp"

namespace lanewise::bench {

/// launch/20 and launch/2000 instructions, of which a lane carries out a dozen.
std::vector<Benchmark> launch_benchmarks(const std::string& selector);

}  // namespace lanewise::bench
