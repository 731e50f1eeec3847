// SPIR-V text whose differences are differences of the code: no numbering that a single new
// instruction would shift.
#pragma once

#include <string>

namespace lanewise::golden {

/// Of a module's disassembly: capabilities, modes and interface; the kernel's own functions in
/// full, their values named after operation and place (%b2.IAdd.1: the second OpIAdd of block 2);
/// of the library's functions how many instructions they have, those that they call included.
std::string normalise(const std::string& disassembly);

}  // namespace lanewise::golden
