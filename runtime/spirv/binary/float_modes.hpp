// The float behaviour that a module asks of the device (SPV_KHR_float_controls).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/spirv/translate.hpp"

namespace lanewise::spirv {

/// The module with the execution modes that the table of native operations counts on. A device that
/// cannot promise a mode gets no such request, and the operations go to the library. Comes after
/// all passes of SPIRV-Tools: where they see an extension that they do not know, some run and
/// others do not, and what is left is wrong.
std::vector<uint32_t> with_float_modes(std::span<const uint32_t> words, const Target& target);

}  // namespace lanewise::spirv
