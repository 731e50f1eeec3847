// What DPP and SDWA forms of GCN3 instructions there are, and the lanes that DPP can choose.
#pragma once

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// The row can have one: 32-bit operands, no scalar destination.
bool takes_lane_form(const Row& row);
/// Index of source 0, and of source 1 or 0 when there is none.
size_t first_source(const Row& row);
size_t second_source(const Row& row);

/// What can stand around a source: the signs of a float, or the extension of a part.
struct FormSigns {
  bool real = false, sext = false;
};
FormSigns form_signs(const SlotSpec& spec, const Row& row, Form form);
/// The fields of the second dword say something that there is.
bool form_exists(const Instruction& instruction);

/// The code of a choice of lanes; nothing where the text is none.
std::optional<uint32_t> read_lanes(Cursor& in);
/// Empty where the code is none.
std::string lanes_text(unsigned code);

}  // namespace lanewise::gcn
