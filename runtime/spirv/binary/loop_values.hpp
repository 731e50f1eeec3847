// Values that leave loops, for drivers that keep no value of lanes that have left.
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::spirv {

/// Passes every value that is made in a loop and used after it, and every OpPhi of a loop's merge
/// block, through a variable. SwiftShader runs a loop until its last lane leaves and computes each
/// value anew for all lanes, also for an OpPhi after the loop; only stores leave out the lanes that
/// have gone. Pointers stay as they are. The module must be valid.
std::vector<uint32_t> keep_loop_values(const std::vector<uint32_t>& words);

}  // namespace lanewise::spirv
