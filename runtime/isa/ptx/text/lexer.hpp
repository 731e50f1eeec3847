// PTX text to tokens. Tokens refer to the text by offset; nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/error.hpp"

namespace lanewise::ptx {

struct Token {
  enum class Kind : uint8_t {
    end,         ///< the end of the file
    identifier,  ///< `ld`, `%r1`, `$L__BB0_2`, `_`
    modifier,    ///< `.global`, `.L1::no_allocate`: a directive, qualifier, type or component
    integer,     ///< well formed, perhaps too large
    decimal,     ///< `1.5`, `1e5`, `9.0`
    single,      ///< `0f3F800000`
    double_,     ///< `0d3FF0000000000000`
    string,      ///< with its quotes
    punct,       ///< `punct` says which
    malformed,   ///< was reported already
  };
  Kind kind = Kind::end;
  bool first_on_line = false;
  /// One character, or two packed as first | second << 8 (`<<`, `==`, `&&`, ...).
  uint16_t punct = 0;
  uint32_t line = 1, column = 1;
  uint32_t offset = 0, length = 0;
};

constexpr uint16_t punct2(char a, char b) {
  return static_cast<uint16_t>(static_cast<unsigned char>(a) | static_cast<unsigned char>(b) << 8);
}

/// Larger texts are refused: the tokens and the tree would need many times that much memory.
inline constexpr size_t kMaxTextBytes = size_t{512} << 20;

struct LexResult {
  std::vector<Token> tokens;  ///< always ends with an `end` token
  std::vector<Diagnostic> diagnostics;
  bool unreadable = false;  ///< not PTX text at all: parsing it would only repeat the message
  bool cut = false;         ///< a comment without end swallowed the rest of the file
};

/// max_errors as in parse(); 0 = all.
LexResult tokenize(std::string_view text, size_t max_errors);

}  // namespace lanewise::ptx
