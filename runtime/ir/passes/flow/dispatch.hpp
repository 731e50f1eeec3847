// Rewiring blocks behind a dispatch block, shared by make_reducible and structurise.
#pragma once

#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Leads every edge to one of `entries` (sorted) through a new block that switches on a selector
/// register, and returns that block.
uint32_t add_dispatch(Program& program, const std::vector<uint32_t>& entries);

/// Gives the program an entry block that nothing jumps to.
void detach_entry(Program& program);

}  // namespace lanewise::ir
