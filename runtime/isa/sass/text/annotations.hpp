// The control field between text and bits: &req, &rd, &wr, ?WAIT, and the word where text says too
// little.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/isa/sass/sass.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::sass {

/// What &word=0x... says, and where it stands.
struct WholeWord {
  uint64_t bits = 0;
  size_t at = 0;
};

bool at_annotation(Cursor& in);
/// All annotations up to the end of the text; anything else there throws SyntaxError.
void read_annotations(Cursor& in, Instruction& i, std::optional<WholeWord>& whole);
std::string write_annotations(const Instruction& i);

}  // namespace lanewise::sass
