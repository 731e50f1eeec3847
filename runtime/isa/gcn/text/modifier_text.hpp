// What stands behind the operands: offsets, flags, lanes and parts.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// The fields that a compare or an instruction with one source does not have are 0.
void clear_absent_fields(Instruction& i);
/// All modifiers of the line, each once; throws SyntaxError where they and the operands do not go
/// together.
void read_modifiers(Cursor& in, Instruction& i, Gen gen);
void write_lds_modifiers(const Instruction& i, std::string& out);

}  // namespace lanewise::gcn
