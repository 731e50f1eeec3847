#include "runtime/guest/pointer_bounds.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {
namespace {

/// Of a descriptor's first two words, the base; what else a pointer has there leads nowhere.
uint64_t base_at(std::span<const std::byte> params, uint32_t offset) {
  return pointer_at(params, offset) & ((uint64_t{1} << 48) - 1);
}

}  // namespace

uint64_t pointer_at(std::span<const std::byte> params, uint32_t offset) {
  uint64_t value = 0;
  if (offset < params.size())
    std::memcpy(&value, params.data() + offset, std::min<size_t>(8, params.size() - offset));
  return value;
}

const Allocation* pointed_at(std::span<const Allocation> sorted, uint64_t pointer) {
  constexpr uint64_t kBefore = 64;
  for (const uint64_t address : {pointer, pointer - 1, pointer + kBefore})
    if (const Allocation* found = allocation_at(sorted, address, 1)) return found;
  return nullptr;
}

bool PointerBounds::allows(uint64_t address, uint64_t bytes, bool write) const {
  return inside(address - start, bytes, write ? writable : readable);
}

std::optional<std::vector<PointerBounds>> pointer_bounds(const ir::PointerParams& pointers,
                                                         std::span<const std::byte> params,
                                                         std::span<const Allocation> sorted) {
  std::vector<PointerBounds> all;
  all.reserve(pointers.through.size() + pointers.variables.size());
  for (const uint32_t offset : pointers.in_offsets)
    if (pointed_at(sorted, base_at(params, offset)) != nullptr) return std::nullopt;
  for (size_t n = 0; n < pointers.through.size(); ++n) {
    const uint32_t offset = pointers.through[n];
    const uint64_t pointer = base_at(params, offset);
    const Allocation* found = pointed_at(sorted, pointer);
    if (found == nullptr && pointer >= kNullPageEnd) return std::nullopt;
    PointerBounds bounds;
    if (found != nullptr)
      bounds = {found->address, found->size, found->read_only ? 0 : found->size,
                pointer_at(params, offset), pointer % pointers.alignments[n] == 0};
    all.push_back(bounds);
  }
  for (const ir::Variable& v : pointers.variables)
    all.push_back({v.address, v.size, v.read_only ? 0 : v.size, v.address});
  return all;
}

std::vector<PointerBounds> arena_bounds(const ir::PointerParams& pointers,
                                        std::span<const std::byte> params, uint64_t readable,
                                        uint64_t writable) {
  std::vector<PointerBounds> all;
  for (size_t n = 0; n < pointers.through.size(); ++n) {
    const uint64_t pointer = pointer_at(params, pointers.through[n]);
    all.push_back({kArenaBase, readable, writable, pointer, pointer % pointers.alignments[n] == 0});
  }
  return all;
}

}  // namespace lanewise::guest
