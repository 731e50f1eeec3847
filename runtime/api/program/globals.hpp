// Module variables: memory, initial bytes, and the addresses that kernels use.
#pragma once

#include <functional>
#include <span>

#include "runtime/ir/ir.hpp"

namespace lanewise::host::detail {

struct PlacedGlobal {
  std::string name;
  uint64_t address = 0, size = 0;
  std::vector<std::byte> bytes;  ///< initial contents; the rest is zero
};

/// Asks `allocate` for memory for every variable, resolves relocations and binds the kernels'
/// symbols. Error(guest) names a symbol that is defined nowhere.
std::vector<PlacedGlobal> place_globals(ir::Module& module,
                                        const std::function<uint64_t(const ir::Global&)>& allocate);

}  // namespace lanewise::host::detail
