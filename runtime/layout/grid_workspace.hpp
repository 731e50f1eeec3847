// What the groups of a cooperative launch meet through (grid.sync() of CUDA's headers): a variable
// of the module, whose first 8 bytes are the address that %envreg1 and %envreg2 give, 0 in other
// launches. There lie the size of the workspace and the count of groups that arrived, 4 bytes each.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::guest {

inline constexpr std::string_view kGridWorkspace = "lanewise_grid_workspace";
inline constexpr uint64_t kGridWorkspaceAt = 16, kGridWorkspaceBytes = 32;

}  // namespace lanewise::guest
