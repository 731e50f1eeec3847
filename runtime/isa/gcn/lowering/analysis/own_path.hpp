// Whether a lane that is off at a branch may go to where the wave comes to, without the wave.
#pragma once

#include <optional>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// Who has to be asked before the instruction is skipped where no lane is active.
ExeczAsks asks_before_skipping(const Instruction& instruction);

/// What a lane that went without the wave has other than lanes that came with it: numbers, and its
/// own bits of masks (by their low codes).
struct OwnDifference {
  ScalarSet numbers, bits;
  bool any() const { return numbers.any() || bits.any(); }
};
/// The wave goes from the branch to instruction `first` and comes to `goal`. Nothing where the lane
/// has to go with it.
std::optional<OwnDifference> own_path(const Kernel& kernel, const Analysis& analysis, size_t branch,
                                      size_t first, size_t goal);

}  // namespace lanewise::gcn
