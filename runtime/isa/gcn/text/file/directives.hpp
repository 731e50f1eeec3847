// Directives of an assembly file that are not the parser's own: which are harmless, and alignment.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// Puts nothing between instructions and changes none: symbols, debugging, notes.
bool is_harmless(std::string_view directive);
bool is_alignment(std::string_view directive);

/// `.p2align 4`, `.balign 16, 0xff, 8`.
struct Alignment {
  uint64_t to = 1;
  uint64_t fill = 0;
  unsigned width = 1;  ///< bytes of the fill
  bool fills = false;  ///< the fill is written; else the section chooses
  uint64_t most = ~uint64_t{0};

  uint64_t gap(uint64_t at) const {
    const uint64_t missing = (to - at % to) % to;
    return missing > most ? 0 : missing;
  }
};
Alignment read_alignment(std::string_view directive, Cursor& in);

}  // namespace lanewise::gcn
