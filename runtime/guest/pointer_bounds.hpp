// What each pointer parameter of a launch may reach: the allocation that it points into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"

namespace lanewise::guest {

/// Bytes from `start` on; none for a null pointer.
struct PointerBounds {
  uint64_t start = 0, readable = 0, writable = 0;
  uint64_t pointer = 0;  ///< what points there, with what a descriptor has in its upper bits
  bool aligned = true;   ///< as every access through it must be
  bool allows(uint64_t address, uint64_t bytes, bool write) const;
};

/// The eight bytes at an offset of the parameters.
uint64_t pointer_at(std::span<const std::byte> params, uint32_t offset);

/// The allocation that a pointer belongs to, or none. Just behind its last byte counts, too: loops
/// that run down start there; and a few bytes before its first one, where arrays that count from 1
/// begin.
const Allocation* pointed_at(std::span<const Allocation> sorted, uint64_t pointer);

/// One for each of PointerParams::through. Nothing when a parameter points nowhere that is known,
/// or a pointer is part of an offset: then every access is looked up in the list of allocations.
std::optional<std::vector<PointerBounds>> pointer_bounds(const ir::PointerParams& pointers,
                                                         std::span<const std::byte> params,
                                                         std::span<const Allocation> sorted);

/// The same where all memory from the arena's start on may be reached through each of them.
std::vector<PointerBounds> arena_bounds(const ir::PointerParams& pointers,
                                        std::span<const std::byte> params, uint64_t readable,
                                        uint64_t writable);

}  // namespace lanewise::guest
