// What the kit runs, in order.
#pragma once

#include <string>
#include <vector>

#include "tests/hardware/kit/child.hpp"

namespace lanewise::kit {

struct Stage {
  std::string name;
  Command command;
  std::string skipped = {};  ///< why it cannot run here
};

struct Plan {
  std::string programs;         ///< the folder that the programs of the kit are in
  std::string suite;            ///< of the conformance suite
  std::string scratch;          ///< where stages may write
  std::string device = "auto";  ///< a selector, as `lanewise --device` takes it
  bool slice = false;           ///< a little of each kind, for tests of the kit itself
  std::vector<Stage> planted;   ///< further stages, for tests of the kit itself
};

std::vector<Stage> stages(const Plan& plan);

}  // namespace lanewise::kit
