#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Rows of accesses under one guard, with what only they need, become blocks of their own behind a
/// branch. For devices where lanes that a branch leaves out cost nothing.
void branch_on_guards(Program& program);

}  // namespace lanewise::ir
