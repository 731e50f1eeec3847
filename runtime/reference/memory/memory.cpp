#include "runtime/reference/memory/memory.hpp"

#include <algorithm>
#include <bit>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::reference {
namespace {

using ir::Space;

static_assert(std::endian::native == std::endian::little, "guest bytes are copied as they lie");

/// Addresses at which the access is as legal as at the one that was asked for.
struct Place {
  Range range{};
  FaultKind fault = FaultKind::none;
};

Place refused(FaultKind kind) {
  return {{}, kind};
}

/// Of a memory of which the guest's addresses begin at `base`.
Place within(std::span<std::byte> memory, uint64_t base, const Access& access, uint64_t step = 0) {
  if (!guest::inside(access.address - base, access.bytes, memory.size()))
    return refused(FaultKind::out_of_range);
  return {{base, memory.size() - access.bytes, memory.data(), step}};
}
Place within_local(const MemoryView& memory, uint64_t base, const Access& access) {
  return within(memory.local.first(memory.local_bytes), base, access, memory.local_bytes);
}

/// The address alone.
Place narrowed(const Place& place, uint64_t address) {
  const Range& r = place.range;
  if (r.data == nullptr) return place;
  return {{address, 0, r.data + (address - r.base), r.step}};
}

/// The range of the host's own memory that holds all of the bytes; null = none.
const HostRange* host_range_at(const MemoryView& memory, uint64_t address, uint32_t bytes) {
  const auto after = std::ranges::upper_bound(memory.host_ranges, address, {}, &HostRange::address);
  if (after == memory.host_ranges.begin()) return nullptr;
  const HostRange& range = *(after - 1);
  return guest::inside(address - range.address, bytes, range.size) ? &range : nullptr;
}

/// Accesses through a pointer parameter are held against what it points into.
const guest::PointerBounds* bounds_of(const MemoryView& memory, const Access& access) {
  const bool held = memory.memcheck == Memcheck::alloc && access.pointer < memory.pointers.size();
  return held ? &memory.pointers[access.pointer] : nullptr;
}
bool is_allowed(const guest::PointerBounds* bounds, const Access& access) {
  return bounds == nullptr || bounds->allows(access.address, access.bytes, access.write);
}

Place place_in_host(const MemoryView& memory, const Access& access) {
  const HostRange* range = host_range_at(memory, access.address, access.bytes);
  if (range == nullptr) return refused(FaultKind::out_of_range);
  if (access.write && range->read_only) return refused(FaultKind::write_to_read_only);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the guest's address is the host's
  std::byte* own = reinterpret_cast<std::byte*>(range->address);
  const bool lent = range->data == nullptr;
  const Place all = within({lent ? own : range->data, range->size}, range->address, access);
  // Such a range is an allocation, which pointers may lead into or not.
  const guest::PointerBounds* bounds = lent ? nullptr : bounds_of(memory, access);
  if (!is_allowed(bounds, access)) return refused(FaultKind::out_of_range);
  const bool holds_null = range->address < guest::kNullPageEnd;
  return bounds != nullptr || holds_null ? narrowed(all, access.address) : all;
}

Place place_in_arena(const MemoryView& memory, const Access& access) {
  const uint64_t address = access.address;
  if (address < guest::kNullPageEnd) return refused(FaultKind::null);
  uint64_t begin = guest::kArenaBase, end = begin + memory.arena.size();
  // Below the base the difference wraps to a huge offset, which no arena holds.
  if (!guest::inside(address - begin, access.bytes, memory.arena.size()))
    return place_in_host(memory, access);
  const auto cut = [&](uint64_t from, uint64_t bytes) {
    begin = std::max(begin, from);
    end = std::min(end, from + bytes);
  };
  if (memory.memcheck == Memcheck::alloc) {
    const Allocation* allocation = guest::allocation_at(memory.allocations, address, access.bytes);
    const guest::PointerBounds* bounds = bounds_of(memory, access);
    if (allocation == nullptr) return refused(FaultKind::out_of_range);
    if (access.write && allocation->read_only) return refused(FaultKind::write_to_read_only);
    if (!is_allowed(bounds, access)) return refused(FaultKind::out_of_range);
    cut(allocation->address, allocation->size);
    if (bounds != nullptr) cut(bounds->start, access.write ? bounds->writable : bounds->readable);
  } else if (access.write) {
    if (!guest::inside(address - begin, access.bytes, memory.writable))
      return refused(FaultKind::write_to_read_only);
    end = begin + std::min<uint64_t>(memory.arena.size(), memory.writable);
  }
  return {{begin, end - begin - access.bytes, memory.arena.data() + (begin - guest::kArenaBase)}};
}

Place place_of(const MemoryView& memory, const Access& access) {
  const uint64_t address = access.address;
  switch (access.space) {
    case Space::shared:
      return within(memory.shared, 0, access);
    case Space::local:
      return within_local(memory, 0, access);
    case Space::code:
      return within(memory.record, 0, access);
    case Space::param:  // only read from
      return within({const_cast<std::byte*>(memory.params.data()), memory.params.size()}, 0,
                    access);
    case Space::generic:
    case Space::global:
    case Space::constant:
      break;
  }
  const bool generic = access.space == Space::generic;
  // Host memory at an address of the guest's own: nobody can say which one is meant.
  if (memory.ambiguous && address < guest::kArenaBase + memory.arena.size() &&
      (generic || address >= guest::kArenaBase) &&
      host_range_at(memory, address, access.bytes) != nullptr)
    return refused(FaultKind::out_of_range);
  Place place;
  if (generic && address - guest::kSharedWindow < guest::kWindowSize)
    place = within(memory.shared, guest::kSharedWindow, access);
  else if (generic && address - guest::kLocalWindow < guest::kWindowSize)
    place = within_local(memory, guest::kLocalWindow, access);
  else
    place = place_in_arena(memory, access);
  return memory.ambiguous ? narrowed(place, address) : place;
}

}  // namespace

uint64_t alignment_mask(uint32_t alignment) {
  return std::bit_ceil(alignment) - 1;
}

Range reachable(const MemoryView& memory, const Access& access) {
  return place_of(memory, access).range;
}

Located locate(const MemoryView& memory, uint32_t lane, Access access) {
  const uint64_t low = alignment_mask(access.alignment);
  if (access.rule == ir::AlignRule::force) access.address &= ~low;
  const auto& [range, fault] = place_of(memory, access);
  if (fault != FaultKind::none) return {nullptr, fault, access.address};
  if (access.rule == ir::AlignRule::trap && (access.address & low) != 0)
    return {nullptr, FaultKind::misaligned, access.address};
  return {range.data + lane * range.step + (access.address - range.base), fault, access.address};
}

}  // namespace lanewise::reference
