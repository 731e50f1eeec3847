// Numbers in GCN text, and the constants that have source codes of their own.
#pragma once

#include <optional>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// Decimal, 0x, 0b, or octal behind a leading 0, as the assemblers read them; no sign.
uint64_t read_integer(Cursor& in, const char* what);
/// A number as it was written; `bits` are its 32 bits.
struct Number {
  uint32_t bits = 0;
  bool is_float = false, negative = false;
};
Number float_or_integer(Cursor& in);
/// The operand of a number that stands in the instruction's own fields.
Operand immediate(uint32_t value);
/// The code of a constant that needs no literal. In a place of 64 bits 0xffffffff is not -1, and
/// the integer 0x3f000000 is not 0.5, for there literals are extended with zeros.
std::optional<unsigned> inline_code(const Number& n, bool wide, Gen gen);
/// Bits of the constant behind an inline code; nullopt for other codes.
std::optional<uint32_t> inline_constant(unsigned code);
/// The same of floating-point constants as doubles and halves; nullopt for integers, too.
std::optional<uint64_t> inline_double(unsigned code);
std::optional<uint32_t> inline_half(unsigned code);
/// As the assemblers write an inline float; empty for other codes.
std::string inline_float_text(unsigned code, bool wide);

/// Codes of the floating-point ones; the last, 1 / (2 pi), came with GCN3.
inline constexpr unsigned kFirstInlineFloat = 240, kInverseTwoPi = 248;

}  // namespace lanewise::gcn
