// Fills the launch block and the hidden arguments of a dispatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/ir/ir.hpp"
#include "runtime/layout/launch_block.hpp"

namespace lanewise::guest {

struct LaunchFacts {
  Dim3 grid, block;
  uint32_t shared_bytes = 0;
  uint64_t param_address = 0, scratch_address = 0, print_address = 0;
  uint64_t hostcall_address = 0;  ///< of the host's services; 0 = there are none
  bool cooperative = false;       ///< the groups wait for each other
};

uint64_t scratch_bytes(const ir::Program& program, Dim3 grid, Dim3 block);
/// Fills hidden arguments and the block; `params` holds the arguments and grows as needed.
void add_launch_block(const ir::Program& program, const LaunchFacts& facts,
                      std::vector<std::byte>& params);
/// The group that an engine runs for the one that was asked for: whole waves in a row, where the
/// program wants that.
Dim3 launched_block(const ir::Program& program, Dim3 asked);
/// Size of the parameters with their launch block, or with what fills their last 16 bytes up (GCN).
uint64_t bytes_with_launch_block(const ir::Program& program, uint64_t param_bytes);

}  // namespace lanewise::guest
