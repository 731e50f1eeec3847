// Code objects of the amdhsa system, and bare machine code.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// e_machine of AMD GPU files.
inline constexpr uint16_t kElfMachine = 224;

/// Kernels with their descriptors and argument lists; what is wrong with the file is in the
/// diagnostics. Never throws on bad input.
Listing read_code_object(std::span<const std::byte> file, size_t max_errors = 100);

/// Instructions one after another up to the end of `code`; words that no row fits are data.
std::vector<Instruction> decode_code(std::span<const std::byte> code, Gen gen,
                                     std::vector<Diagnostic>& diagnostics, size_t max_errors = 100);

}  // namespace lanewise::gcn
