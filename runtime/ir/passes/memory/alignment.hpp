// Accesses that are aligned, whatever rule they have for the others.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Accesses whose address is surely a multiple of their alignment become AlignRule::trap, which
/// engines carry out whole, and without dropping bits. `aligned_pointers`: the launch passes
/// multiples of 16 for all parameters that are pointers.
void find_alignment(Program& program, bool aligned_pointers);

}  // namespace lanewise::ir
