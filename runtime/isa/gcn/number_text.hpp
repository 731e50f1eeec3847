// Numbers in GCN text, and the constants that have source codes of their own.
#pragma once

#include <optional>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// Decimal, 0x, 0b, or octal behind a leading 0, as the assemblers read them; no sign.
uint64_t read_integer(Cursor& in, const char* what);
/// A number of 32 bits with its sign, integer or float.
uint32_t float_or_integer(Cursor& in, bool& is_float);
/// The code of an inline constant, or a literal where one is possible.
Operand constant_operand(uint32_t value, bool is_float, size_t at, bool literal_allowed, Gen gen);
/// Bits of the constant behind an inline code; nullopt for other codes.
std::optional<uint32_t> inline_constant(unsigned code);
/// As the assemblers write an inline float; empty for other codes.
std::string inline_float_text(unsigned code, bool wide);

/// 1 / (2 pi), which GCN3 added.
inline constexpr unsigned kInverseTwoPi = 248;

}  // namespace lanewise::gcn
