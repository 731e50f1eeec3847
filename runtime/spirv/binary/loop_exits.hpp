// Everything that leaves a loop gets a real OpPhi, for drivers that keep no loop-closed form.
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::spirv {

/// Mesa 22.3 makes an OpPhi whose incoming values are all the same into that value. A value
/// that a loop computes is then computed again, in the iterations of the lanes that are still
/// there, for lanes that have left: their loads give 0, and what follows is wrong without a fault.
/// Here each loop gets a second exit, which no lane takes and no compiler knows not to be taken,
/// and with it an OpPhi for each variable that the loop writes and each value that
/// it makes, as far as they matter behind it: the value where a lane leaves, null on the second
/// way. Returns inside loops become breaks before; arrays that a compiler could take apart are
/// indexed by what it cannot know. The module must be valid. docs/loop-values.md describes it all.
std::vector<uint32_t> close_loops(const std::vector<uint32_t>& words);

}  // namespace lanewise::spirv
