// Branches on EXEC where it is on in all lanes of the wave or in none.
#pragma once

#include <set>

#include "runtime/isa/gcn/lowering/analysis/call_paths.hpp"

namespace lanewise::gcn {

/// There each lane finds the wave's answer in its own bit, also where the wave meets others at a
/// barrier behind the branch. Compilers that do not optimise ask so for conditions that all lanes
/// agree about, and keep the values that they compare in private memory. For kernels that begin
/// with all lanes on.
std::set<size_t> branches_of_even_exec(const Kernel& kernel, const Analysis& analysis,
                                       const CallPaths& paths);

}  // namespace lanewise::gcn
