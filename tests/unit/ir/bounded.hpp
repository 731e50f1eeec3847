// Random graphs as kernels that end.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::test {

/// Wraps a random graph so that it ends: every jump passes a gate that counts down, and the exit
/// stores the state (register 0) and a digest of the path that the lane took, two words a lane.
ir::Program bounded(const ir::Program& graph, uint32_t fuel_at_start, uint32_t lanes);

}  // namespace lanewise::test
