// Integers and floating-point numbers of operands between text and word.
#pragma once

#include <string>

#include "runtime/isa/sass/sass.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::sass {

/// Sign, then magnitude: also `+ -0x4` and `- 4`. `what` is named where no number stands.
int64_t read_signed(Cursor& in, bool negative, const char* what);
void read_integer(Cursor& in, const OperandSpec& spec, uint64_t& word);
void read_float(Cursor& in, const OperandSpec& spec, uint64_t& word);

std::string hex(int64_t value);
std::string write_number(const OperandSpec& spec, uint64_t word);

}  // namespace lanewise::sass
