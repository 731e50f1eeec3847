// Checks of a block stand together where they can, so that one question decides about all of them.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Moves checks, with what computes their addresses, up to the one before them. Their order stays,
/// and none passes what ends a lane, waits, or says something of its own.
void gather_checks(Program& program);

}  // namespace lanewise::ir
