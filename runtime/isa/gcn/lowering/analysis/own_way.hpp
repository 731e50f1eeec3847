// Whether a lane that is off at a branch may go to where the wave comes to, without the wave.
#pragma once

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// Who has to be asked before the instruction is skipped where no lane is active.
ExeczAsks asks_before_skipping(const Instruction& instruction);

/// The wave goes from the branch to instruction `first` and comes to `goal`.
bool may_go_own_way(const Kernel& kernel, const Analysis& analysis, size_t branch, size_t first,
                    size_t goal);

}  // namespace lanewise::gcn
