// The part of simplify() that works on blocks only.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Jumps past empty blocks, joins blocks that follow each other alone, drops unreachable ones.
void simplify_blocks(Program& program);

}  // namespace lanewise::ir
