// One operand between text and code.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

Operand read_operand(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen);
/// As many VGPRs as are written.
Operand read_vgprs(Cursor& in, Gen gen);
/// A source of an instruction with a DPP or SDWA dword: a VGPR, with neg, abs or sext.
Operand read_form_source(Cursor& in, const SlotSpec& spec, const Row& row, Form form, Gen gen,
                         bool& sext);
std::string write_operand(const Operand& operand, const SlotSpec& spec, Encoding encoding, Gen gen);

}  // namespace lanewise::gcn
