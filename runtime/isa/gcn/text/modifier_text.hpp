// What stands behind the operands: offsets, flags, lanes and parts.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// All modifiers of the line, each once; throws SyntaxError where they and the operands do not go
/// together.
void read_modifiers(Cursor& in, Instruction& i, Gen gen);
std::string write_modifiers(const Instruction& i, Gen gen);

}  // namespace lanewise::gcn
