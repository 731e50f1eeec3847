// Which part of a program has to be followed to know its events.
#pragma once

#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::events {

/// Barriers, and operations across lanes that name members.
bool waits_for_others(const ir::Inst& inst);

/// [register]: does it decide events? Those do that addresses, guards of traced instructions and
/// branches are computed from. The rest of the program need not be followed.
std::vector<bool> deciding(const ir::Program& program);

}  // namespace lanewise::events
