#include "runtime/reference/memory/memory.hpp"

#include <algorithm>
#include <bit>

#include "runtime/guest/allocation_at.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::reference {
namespace {

using ir::Space;

static_assert(std::endian::native == std::endian::little, "guest bytes are copied as they lie");

template <typename Byte>
Byte* inside(std::span<Byte> memory, uint64_t offset, uint32_t bytes) {
  return guest::inside(offset, bytes, memory.size()) ? memory.data() + offset : nullptr;
}

Located fault(FaultKind kind, uint64_t address) {
  return {nullptr, kind, address};
}

Located found(std::byte* data, uint64_t address) {
  return data != nullptr ? Located{data, FaultKind::none, address}
                         : fault(FaultKind::out_of_range, address);
}

/// The range of the host's own memory that holds all of the bytes; null = none.
const HostRange* host_range_at(const MemoryView& memory, uint64_t address, uint32_t bytes) {
  const auto after = std::upper_bound(memory.host_ranges.begin(), memory.host_ranges.end(), address,
                                      [](uint64_t a, const HostRange& r) { return a < r.address; });
  if (after == memory.host_ranges.begin()) return nullptr;
  const HostRange& range = *(after - 1);
  return guest::inside(address - range.address, bytes, range.size) ? &range : nullptr;
}

Located locate_in_host(const MemoryView& memory, const Access& access, uint64_t address) {
  const HostRange* range = host_range_at(memory, address, access.bytes);
  if (range == nullptr) return fault(FaultKind::out_of_range, address);
  if (access.write && range->read_only) return fault(FaultKind::write_to_read_only, address);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the guest's address is the host's
  if (range->data == nullptr) return found(reinterpret_cast<std::byte*>(address), address);
  // Such a range is an allocation, which pointers may lead into or not.
  if (memory.memcheck == Memcheck::alloc && access.pointer < memory.pointers.size() &&
      !memory.pointers[access.pointer].allows(address, access.bytes, access.write))
    return fault(FaultKind::out_of_range, address);
  return found(range->data + (address - range->address), address);
}

Located locate_in_arena(const MemoryView& memory, const Access& access, uint64_t address) {
  if (address < guest::kNullPageEnd) return fault(FaultKind::null, address);
  // Below the base the difference wraps to a huge offset, which no arena holds.
  std::byte* data = inside(memory.arena, address - guest::kArenaBase, access.bytes);
  if (data == nullptr) return locate_in_host(memory, access, address);
  if (memory.memcheck != Memcheck::alloc && access.write &&
      !guest::inside(address - guest::kArenaBase, access.bytes, memory.writable))
    return fault(FaultKind::write_to_read_only, address);
  if (memory.memcheck == Memcheck::alloc) {
    const Allocation* allocation = guest::allocation_at(memory.allocations, address, access.bytes);
    if (allocation == nullptr) return fault(FaultKind::out_of_range, address);
    if (access.write && allocation->read_only) return fault(FaultKind::write_to_read_only, address);
    if (access.pointer < memory.pointers.size() &&
        !memory.pointers[access.pointer].allows(address, access.bytes, access.write))
      return fault(FaultKind::out_of_range, address);
  }
  return found(data, address);
}

/// Host memory at an address of the guest's own: nobody can say which one is meant.
bool is_ambiguous(const MemoryView& memory, const Access& access, uint64_t address) {
  return memory.ambiguous && address < guest::kArenaBase + memory.arena.size() &&
         host_range_at(memory, address, access.bytes) != nullptr;
}

Range whole(std::span<std::byte> memory, uint64_t base, uint32_t bytes) {
  if (memory.size() < bytes) return {};
  return {base, memory.size() - bytes, memory.data(), 0};
}

/// The address lies there.
Range reachable_in_arena(const MemoryView& memory, const Access& access, uint64_t address) {
  uint64_t begin = guest::kArenaBase, end = begin + memory.arena.size();
  const auto cut = [&](uint64_t from, uint64_t bytes) {
    begin = std::max(begin, from);
    end = std::min(end, from + bytes);
  };
  if (memory.memcheck != Memcheck::alloc) {
    if (access.write) end = begin + std::min<uint64_t>(memory.arena.size(), memory.writable);
  } else {
    const Allocation* allocation = guest::allocation_at(memory.allocations, address, access.bytes);
    if (allocation == nullptr || (access.write && allocation->read_only)) return {};
    cut(allocation->address, allocation->size);
    if (access.pointer < memory.pointers.size()) {
      const guest::PointerBounds& bounds = memory.pointers[access.pointer];
      cut(bounds.start, access.write ? bounds.writable : bounds.readable);
    }
  }
  if (end < begin || end - begin < access.bytes) return {};
  return {begin, end - begin - access.bytes, memory.arena.data() + (begin - guest::kArenaBase), 0};
}

Located locate_param(const MemoryView& memory, const Access& access, uint64_t address) {
  const std::byte* data = inside(memory.params, address, access.bytes);
  if (data == nullptr) return fault(FaultKind::out_of_range, address);
  if (access.write) return fault(FaultKind::write_to_read_only, address);
  return found(const_cast<std::byte*>(data), address);  // only read from
}

Located locate_anywhere(const MemoryView& memory, std::span<std::byte> local, const Access& access,
                        uint64_t address) {
  switch (access.space) {
    case Space::shared:
      return found(inside(memory.shared, address, access.bytes), address);
    case Space::local:
      return found(inside(local, address, access.bytes), address);
    case Space::param:
      return locate_param(memory, access, address);
    case Space::generic:
      if (is_ambiguous(memory, access, address)) return fault(FaultKind::out_of_range, address);
      if (address - guest::kSharedWindow < guest::kWindowSize) {
        return found(inside(memory.shared, address - guest::kSharedWindow, access.bytes), address);
      }
      if (address - guest::kLocalWindow < guest::kWindowSize) {
        return found(inside(local, address - guest::kLocalWindow, access.bytes), address);
      }
      break;
    case Space::code:
      return found(inside(memory.record, address, access.bytes), address);
    case Space::global:
    case Space::constant:
      break;
  }
  const bool in_arena = address - guest::kArenaBase < memory.arena.size();
  if (in_arena && is_ambiguous(memory, access, address))
    return fault(FaultKind::out_of_range, address);
  return locate_in_arena(memory, access, address);
}

}  // namespace

uint64_t alignment_mask(uint32_t alignment) {
  return std::bit_ceil(alignment) - 1;
}

Range reachable(const MemoryView& memory, const Access& access, uint64_t address) {
  const Range local{0, uint64_t{memory.local_bytes} - access.bytes,
                    access.bytes <= memory.local_bytes ? memory.local.data() : nullptr,
                    memory.local_bytes};
  switch (access.space) {
    case Space::shared:
      return whole(memory.shared, 0, access.bytes);
    case Space::local:
      return local;
    case Space::code:
      return whole(memory.record, 0, access.bytes);
    case Space::param:
      if (access.write) return {};
      return whole({const_cast<std::byte*>(memory.params.data()), memory.params.size()}, 0,
                   access.bytes);
    case Space::generic:
      if (memory.ambiguous) return {};
      if (address - guest::kSharedWindow < guest::kWindowSize)
        return whole(memory.shared, guest::kSharedWindow, access.bytes);
      if (address - guest::kLocalWindow < guest::kWindowSize)
        return {guest::kLocalWindow, local.limit, local.data, local.step};
      break;
    case Space::global:
    case Space::constant:
      break;
  }
  if (memory.ambiguous) return {};
  if (guest::inside(address - guest::kArenaBase, access.bytes, memory.arena.size()))
    return reachable_in_arena(memory, access, address);
  const HostRange* range = host_range_at(memory, address, access.bytes);
  const bool by_pointer =
      memory.memcheck == Memcheck::alloc && access.pointer < memory.pointers.size();
  if (range == nullptr || range->address < guest::kNullPageEnd || by_pointer) return {};
  if (access.write && range->read_only) return {};
  std::byte* data = range->data != nullptr
                        ? range->data
                        // NOLINTNEXTLINE(performance-no-int-to-ptr): the guest's is the host's
                        : reinterpret_cast<std::byte*>(range->address);
  return whole({data, range->size}, range->address, access.bytes);
}

Located locate(const MemoryView& memory, uint32_t lane, const Access& access) {
  const std::span<std::byte> local =
      memory.local.subspan(size_t{lane} * memory.local_bytes, memory.local_bytes);
  const uint64_t low = alignment_mask(access.alignment);
  const bool forced = access.rule == ir::AlignRule::force;
  const uint64_t address = forced ? access.address & ~low : access.address;
  const Located result = locate_anywhere(memory, local, access, address);
  if (result.fault == FaultKind::none && access.rule == ir::AlignRule::trap &&
      (address & low) != 0) {
    return fault(FaultKind::misaligned, address);
  }
  return result;
}

uint64_t extend_element(ir::Type elem, uint64_t bits) {
  switch (elem) {
    case ir::Type::s8:
      return static_cast<uint32_t>(static_cast<int8_t>(bits));
    case ir::Type::s16:
      return static_cast<uint32_t>(static_cast<int16_t>(bits));
    default:
      return bits;
  }
}

}  // namespace lanewise::reference
