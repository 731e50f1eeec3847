// Operands of images, exports and interpolation between text and fields. They are read and written,
// not run.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

Operand read_graphics_operand(Cursor& in, Slot slot, Gen gen);
std::string write_graphics_operand(const Operand& o, Slot slot, Gen gen);
/// There is such a target of exports.
bool is_target(unsigned code);

}  // namespace lanewise::gcn
