// --check init on devices: the kernel itself keeps a map of the bytes that were written, and asks
// it before every read.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Where the maps of shared and local memory begin, behind what the guest has of each; 0 = it has
/// none. The map of the arena is where SReg::written_map says.
struct WrittenMaps {
  uint32_t shared = 0, local = 0;
  std::optional<uint32_t> given;  ///< shared memory from here on counts as written
};

/// Bytes of the map of so much shared or local memory.
uint32_t small_map_bytes(uint64_t bytes);

/// Behind insert_checks(): accesses say whether they happen.
void insert_written_checks(Program& program, const WrittenMaps& maps);

}  // namespace lanewise::ir
