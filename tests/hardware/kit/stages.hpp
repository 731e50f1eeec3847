// What the kit runs, in order: by what a stage teaches in its time, and then as it is listed here.
#pragma once

#include <string>
#include <vector>

#include "tests/hardware/kit/child.hpp"

namespace lanewise::kit {

struct Stage {
  std::string name;
  Command command;
  std::string skipped = {};  ///< why it cannot run here
  std::string expects = {};  ///< the last line that it prints when all is right; empty for any
  int worth = 0;             ///< stages with less of it come later, as they do when time is short
};

struct Plan {
  std::string programs;         ///< the folder that the programs of the kit are in
  std::string suite;            ///< of the conformance suite
  std::string exec;             ///< of CUDA and HIP programs
  std::string scratch;          ///< where stages may write
  std::string device = "auto";  ///< a selector, as `lanewise --device` takes it
  bool slice = false;           ///< a little of each kind, for tests of the kit itself
  std::vector<Stage> planted;   ///< further stages, for tests of the kit itself
};

std::vector<Stage> stages(const Plan& plan);

}  // namespace lanewise::kit
