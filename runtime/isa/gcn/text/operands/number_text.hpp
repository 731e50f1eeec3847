// Numbers in GCN text, and the constants that have source codes of their own.
#pragma once

#include <optional>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// Decimal, 0x, 0b, or octal behind a leading 0, as the assemblers read them; no sign.
uint64_t read_integer(Cursor& in, const char* what);
/// A number of the text: the bits of a double, or an integer of 64 bits.
struct Number {
  uint64_t bits = 0;
  bool is_float = false;
};
/// The text here is a floating-point number, behind a minus or not.
bool at_float(Cursor in);
Number read_float(Cursor& in);
/// A number of a field of bits: in the place of an integer the assemblers take the bits of a
/// double.
int64_t read_bits(Cursor& in, const char* what);
/// The operand of a number that stands in the instruction's own fields.
Operand immediate(uint32_t value);
/// The lowest bits of a number, which may have others.
Operand lowest_bits(int64_t number, unsigned width);

/// What stands for a number in an operand: the code of an inline constant, or of a literal and its
/// value. The upper half of a double is a literal; where the lower one is not 0 it is not `exact`.
struct Constant {
  unsigned code = kLiteral;
  uint32_t literal = 0;
  bool exact = true;
};
/// The number's bits in the type. Nullopt, with `problem` set, where the type cannot hold it.
std::optional<uint64_t> bits_in(const Number& n, ir::Type type, std::string& problem);
std::optional<Constant> constant_of(const Number& n, ir::Type type, Gen gen, std::string& problem);
/// As the assemblers write a constant, or a literal, in an operand of the type.
std::string constant_text(unsigned code, ir::Type type);
std::string literal_text(uint32_t literal, ir::Type type, Gen gen);
/// The number's sign and absolute value as the bits of the type.
Number with_modifiers(Number n, bool neg, bool abs, ir::Type type);
/// Bits of the constant behind an inline code; nullopt for other codes.
std::optional<uint32_t> inline_constant(unsigned code);
/// The same of floating-point constants as doubles and halves; nullopt for integers, too.
std::optional<uint64_t> inline_double(unsigned code);
std::optional<uint32_t> inline_half(unsigned code);
/// Codes of the floating-point ones; the last, 1 / (2 pi), came with GCN3.
inline constexpr unsigned kFirstInlineFloat = 240, kInverseTwoPi = 248;

}  // namespace lanewise::gcn
