// Compilers that run out of scalar registers keep some in lanes of a vector register (v_writelane,
// v_readlane). Where a vector register serves nothing else, its lanes are scalar registers.
#pragma once

#include "runtime/isa/gcn/lowering/analysis/calls.hpp"

namespace lanewise::gcn {

/// Gives such lanes scalar registers that the kernel does not name, and makes moves of the
/// accesses, of 64 bits where two words of a pair are moved together: masks stay masks then. Places
/// and texts of the instructions stay. Lanes beyond the registers there are stay lanes. A kernel
/// without a descriptor stays as it is: somebody may look at its registers. Takes and gives the
/// kernel's targets, of which more are certain where an address was kept in such a lane.
CallTargets use_scalars_for_lane_slots(Kernel& kernel, CallTargets calls);

}  // namespace lanewise::gcn
