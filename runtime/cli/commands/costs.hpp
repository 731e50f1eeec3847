// What --check perf shows: costs by line, and counters with Nsight Compute's names.
#pragma once

#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "runtime/support/findings/finding.hpp"

namespace lanewise::cli {

/// What a launch is called in a CSV file.
struct Launched {
  std::string program, kernel;
  Dim3 grid, block;
};

/// Of Result::profile; `file` is the input, whose lines instructions have where no source is known.
std::vector<findings::Finding> cost_findings(const std::string& profile, const std::string& kernel,
                                             const std::string& file);
/// As `ncu --csv` writes it. Throws Error(guest) where an instruction is made of several accesses,
/// whose requests are not those of the hardware.
std::string counters_csv(const std::string& profile, const Launched& launched);

}  // namespace lanewise::cli
