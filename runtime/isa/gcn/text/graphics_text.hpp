// Images, exports and interpolation between text and fields. They are read and written, not run.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

Operand read_graphics_operand(Cursor& in, Slot slot, Gen gen);
std::string write_graphics_operand(const Operand& o, Slot slot, Gen gen);

/// One flag of MIMG or EXP, and its name; throws SyntaxError where there is none.
std::string_view read_graphics_modifier(Cursor& in, Instruction& i);
std::string write_graphics_modifiers(const Instruction& i);

/// Why these registers and flags do not go together; empty when they do.
std::string graphics_problem(const Instruction& i, Gen gen);
/// Flags of the encoding. Reading sets the registers' numbers, too.
uint64_t graphics_flags(const Instruction& i);
void read_graphics_flags(Instruction& i, uint64_t word);

/// Half of the attribute is read or written: in the attribute's operand.
inline constexpr uint32_t kAttributeHigh = 256;
inline bool is_graphics(Encoding e) {
  return e == Encoding::mimg || e == Encoding::exp || e == Encoding::vintrp;
}

}  // namespace lanewise::gcn
