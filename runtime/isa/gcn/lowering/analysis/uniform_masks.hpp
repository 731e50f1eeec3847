// Branches on VCC whose answer is one for the whole wave, though VCC is a mask.
#pragma once

#include <set>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// The `s_cbranch_vccz` and `s_cbranch_vccnz` in front of which VCC is EXEC and a pair (or its
/// complement) that is 0 or -1 as a whole: so a lane that is on finds the answer in its own bit.
/// Compilers write that for conditions of scalar registers.
std::set<size_t> branches_of_one_answer(const Kernel& kernel, const Analysis& analysis);

}  // namespace lanewise::gcn
