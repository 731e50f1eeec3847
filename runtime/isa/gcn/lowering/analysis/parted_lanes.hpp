// Whether it matters that lanes which parted from their wave hold other scalar registers than it.
#pragma once

#include <map>

#include "runtime/isa/gcn/lowering/analysis/call_paths.hpp"
#include "runtime/isa/gcn/lowering/analysis/own_path.hpp"

namespace lanewise::gcn {

/// True when nothing that a lane stores, loads or decides depends on such a difference, and lanes
/// come to branches that ask the wave only while they are on, so that EXEC is not zero there.
/// `asks` has the answer of each branch on EXEC, `parting` what a lane that is off there has other
/// behind those that ask the lane.
bool lanes_may_part(const Kernel& kernel, const Analysis& analysis, const CallPaths& paths,
                    const std::map<size_t, ExeczAsks>& asks,
                    const std::map<size_t, OwnDifference>& parting);

}  // namespace lanewise::gcn
