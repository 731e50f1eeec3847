// Accesses that are legal in every lane of a launch: its parameters, its geometry and the branches
// in front of an access leave no address that is not. Nobody has to ask about them on the device.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

struct CertainFacts {
  Dim3 grid, block;                   ///< threads as the launch has them
  std::span<const std::byte> params;  /// arguments alone: what is behind them is not known
  bool allocations = false;           ///< --memcheck alloc: a pointer stays in its allocation
  std::span<const Allocation> live;   ///< sorted by address
};

/// Whether it is so, for each load, store and atomic of the program in turn.
std::vector<bool> certain_accesses(const ir::Program& program, const CertainFacts& facts);

/// Sets Mem::certain of them.
void mark_certain(ir::Program& program, const std::vector<bool>& certain);

}  // namespace lanewise::guest
