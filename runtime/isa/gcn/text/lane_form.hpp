// The DPP and SDWA dwords of GCN3 between bits, text and fields.
#pragma once

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// What stands in the place of source 0 when such a dword follows.
inline constexpr unsigned kSdwaCode = 249, kDppCode = 250;

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

uint32_t encode_form(const Instruction& instruction);
/// Fills the fields from the dword; false when no text says what it holds.
bool decode_form(Instruction& instruction, uint32_t word);
/// One modifier; false when the text is none of them.
bool read_form_modifier(Cursor& in, Instruction& instruction, bool& control_seen);
std::string write_form(const Instruction& instruction);

}  // namespace lanewise::gcn
