// The data and number format of typed buffer instructions as text.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// `dfmt:4, nfmt:7,` before SOFFSET, either part or none.
void read_format_prefix(Cursor& in, Instruction& instruction);
/// After the word `format`: `:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]`, names also without their
/// prefixes and in any case, or a number.
void read_format(Cursor& in, Instruction& instruction, Gen gen);
/// ` format:[...]`, parts that have their default value left out.
std::string write_format(const Instruction& instruction, Gen gen);

std::string_view data_format_name(unsigned code);
std::string_view number_format_name(unsigned code, Gen gen);

/// Bytes of one element; 0 for the codes without a format.
unsigned data_format_bytes(unsigned code);
/// Combinations that the hardware's documents or its drivers know.
bool documented_format(unsigned dfmt, unsigned nfmt, bool store, Gen gen);

}  // namespace lanewise::gcn
