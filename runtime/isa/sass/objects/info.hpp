// What the .nv.info sections of a cubin say: sizes of stacks, parameters, limits, targets of jumps.
// Every function throws elf::ElfError where the section is broken.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// Of the module's section: a function's symbol -> bytes of stack.
std::map<uint32_t, uint32_t> stack_sizes(elf::Bytes info);
/// Parameters and the limit of threads, from a kernel's section.
void read_parameters(elf::Bytes info, Kernel& kernel);
/// Where jumps through tables can go, from the section of a kernel or a function.
void read_jumps(elf::Bytes info, Kernel& kernel);

}  // namespace lanewise::sass
