// The offset of ds_swizzle_b32 as words: `swizzle(QUAD_PERM,0,1,2,3)` and the like.
#pragma once

#include <string>

#include "runtime/isa/gcn/text/operands/operand_text.hpp"

namespace lanewise::gcn {

/// Behind `offset:`, at the word `swizzle`.
uint16_t read_swizzle(Cursor& in);
/// As the assembler's manual names it; a number where no name fits.
std::string swizzle_text(uint16_t offset);

}  // namespace lanewise::gcn
