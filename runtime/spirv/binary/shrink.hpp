// Optimisation of whole modules with SPIRV-Tools, for drivers that need it.
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::spirv {

/// Inlines every call, folds constants and the branches on them, drops what is dead. Values leave
/// loops through variables (loop_values.hpp).
std::vector<uint32_t> shrink(const std::vector<uint32_t>& words);

}  // namespace lanewise::spirv
