// One operand between text and word.
#pragma once

#include <string>

#include "runtime/isa/sass/sass.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::sass {

/// Reads an operand and sets its fields in the instruction's word; throws SyntaxError.
void read_operand(Cursor& in, const OperandSpec& spec, Instruction& instruction);
std::string write_operand(const OperandSpec& spec, const Instruction& instruction);

}  // namespace lanewise::sass
