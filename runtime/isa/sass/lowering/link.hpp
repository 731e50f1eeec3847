// Relocatable device code: functions with sections of their own.
#pragma once

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// Stack of a kernel that recurses: nothing says how deep.
inline constexpr uint32_t kRecursionStack = 64 << 10;

/// Functions of the file whose address stands in code or in variables, in the order that numbers
/// them (ir::Module::functions).
std::vector<std::string> functions_with_address(const Listing& listing);

/// The kernel with the functions that it calls behind it, as a linker would lay them out, and with
/// the functions that those call.
Kernel linked(const Kernel& kernel, const Listing& listing);

}  // namespace lanewise::sass
