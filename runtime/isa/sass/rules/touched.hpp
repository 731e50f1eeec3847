// Which registers, predicates and flags an instruction reads and writes.
#pragma once

#include <bitset>
#include <string>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// R0 to R254, then P0 to P6, then the condition code; RZ and PT are nobody's.
using Places = std::bitset<256 + 8 + 1>;
inline constexpr size_t kFirstPredicate = 256, kConditionCode = 264;
std::string place_name(size_t place);

struct Touched {
  Places reads, writes;
};
Touched touched(const Instruction& i);

}  // namespace lanewise::sass
