// What the groups of a cooperative launch meet through (grid.sync() of CUDA's and of HIP's
// headers): a variable of the module, whose first 8 bytes are the address that %envreg1 and
// %envreg2 give, 0 in other launches. There lie the size of the workspace and the count of groups
// that arrived, 4 bytes each, and behind them the counts of waves that arrived at GCN's semaphores.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::guest {

inline constexpr std::string_view kGridWorkspace = "lanewise_grid_workspace";
inline constexpr uint64_t kSemaphores = 64, kSemaphoresAt = 8;  // of the workspace
inline constexpr uint64_t kGridWorkspaceAt = 16,
                          kGridWorkspaceBytes = kGridWorkspaceAt + kSemaphoresAt + 4 * kSemaphores;

}  // namespace lanewise::guest
