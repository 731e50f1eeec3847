// Accesses at any address that need not be taken apart.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Accesses at any address (AlignRule::any) whose address is surely a multiple of their alignment
/// become AlignRule::force, which engines carry out whole. `aligned_pointers`: the launch
/// passes multiples of 16 for all parameters that are pointers.
void find_alignment(Program& program, bool aligned_pointers);

}  // namespace lanewise::ir
