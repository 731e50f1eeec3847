// Formats of C's printf, and of OpenCL's with its vectors: what they ask for, and numbers as they
// want them. Standard: C11 7.21.6.1, OpenCL C 1.2 6.12.13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

/// `%[flags][width][.precision][vN][length]type`
struct Conversion {
  std::string flags, width, precision;  ///< of digits; "*": an argument says it
  bool has_precision = false;
  unsigned vector = 1;  ///< OpenCL's %vN
  std::string length;   ///< hh h l ll j z t L hl
  char type = 0;        ///< one of diouxXcsp aAeEfFgG
  bool is_float() const {
    return std::string_view("aAeEfFgG").find(type) != std::string_view::npos;
  }
  bool is_signed() const { return type == 'd' || type == 'i'; }
  bool operator==(const Conversion&) const = default;
};

/// Text as it stands, or a conversion.
struct FormatChunk {
  std::string text;       ///< of a conversion, too
  Conversion conversion;  ///< type 0: it is text
  bool operator==(const FormatChunk&) const = default;
};

/// What is no conversion of C's stays text. `%%` is one per cent sign.
std::vector<FormatChunk> parse_format(std::string_view format);

/// Bytes of an integer that a C compiler for 64-bit machines passes for the conversion: 4 or 8.
unsigned integer_bytes(const Conversion& conversion);

/// CUDA's printf takes so many arguments beside the format; what asks for more stays text.
inline constexpr size_t kMostPrintArguments = 32;

/// How many arguments a conversion takes: widths and precisions may be some.
constexpr size_t arguments_of(const Conversion& c) {
  return 1U + (c.width == "*" ? 1 : 0) + (c.precision == "*" ? 1 : 0);
}

/// What a call of CUDA's printf reads of its variable arguments, which lie each at a multiple of
/// its size: numbers in words or pairs of them, floats as doubles.
struct VariableArguments {
  size_t bytes = 0, count = 0;
  uint32_t strings = 0;  ///< bit n: the argument 8 * n bytes behind the first is a string's address
};
VariableArguments variable_arguments(std::string_view format);

/// `bits` as the conversion wants them: an integer of `bytes`, sign and all in the lower bits, or a
/// pointer. Width and precision are digits or empty by now.
std::string format_integer(const Conversion& conversion, uint64_t bits, unsigned bytes);
std::string format_float(const Conversion& conversion, double value);
std::string format_string(const Conversion& conversion, std::string_view text);

}  // namespace lanewise
