// Finds the bytes of a guest access, or says why the guest may not have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

#include "runtime/guest/engine.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/reference/lanes/wave.hpp"

namespace lanewise::reference {

/// Everything a lane can reach. Shared and local change from group to group and lane to lane.
struct MemoryView {
  std::span<std::byte> arena;
  uint64_t writable = ~uint64_t{0};  ///< bytes of it
  std::span<const std::byte> params;
  std::span<const Allocation> allocations;
  std::span<const HostRange> host_ranges;  ///< sorted by address
  /// Some of that lies where the guest has its windows or its arena: an address there could mean
  /// either, so it is a fault.
  bool ambiguous = false;
  Memcheck memcheck = Memcheck::arena;
  std::span<const guest::PointerBounds> pointers;  ///< of pointer parameters, may be empty
  std::span<const uint32_t> parameters;            ///< their byte offsets
  std::span<std::byte> shared;
  std::span<std::byte> local;     ///< of all lanes of the group, one after another
  uint32_t local_bytes = 0;       ///< of one
  std::span<std::byte> record;    ///< LaunchRequest::record
  std::span<std::byte> services;  ///< the allocation of LaunchRequest::services
};

struct Access {
  ir::Space space = ir::Space::global;
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t alignment = 1;  ///< a power of two
  ir::AlignRule rule = ir::AlignRule::trap;
  bool write = false;
  uint32_t pointer = ir::kNone;  ///< the parameter that it goes through, ir::Mem::pointer
};

struct Located {
  std::byte* data = nullptr;  ///< null when there is a fault
  FaultKind fault = FaultKind::none;
  uint64_t address = 0;  ///< the address after AlignRule::force
};

/// The order of the checks is that of docs/execution.md. `lane`: of the group.
Located locate(const MemoryView& memory, uint32_t lane, Access access);
/// Addresses around this one at which locate() finds the bytes, but for the alignment; no data
/// where it does not.
Range reachable(const MemoryView& memory, const Access& access);

/// Rounds the alignment up to a power of two: a three-word access is aligned like a four-word one.
uint64_t alignment_mask(uint32_t alignment);

/// Does the byte lie in the memory? Also of pointers into different arrays.
inline bool holds(std::span<const std::byte> memory, const std::byte* at) {
  const std::less<> before;
  return !before(at, memory.data()) && before(at, memory.data() + memory.size());
}

/// 1, 2, 4 or 8 bytes: constant sizes become single moves.
inline void copy_element(void* to, const void* from, unsigned bytes) {
  if (bytes == 1) std::memcpy(to, from, 1);
  if (bytes == 2) std::memcpy(to, from, 2);
  if (bytes == 4) std::memcpy(to, from, 4);
  if (bytes == 8) std::memcpy(to, from, 8);
}
inline uint64_t read_little_endian(const std::byte* data, unsigned bytes) {
  uint64_t value = 0;
  copy_element(&value, data, bytes);
  return value;
}
inline void write_little_endian(std::byte* data, unsigned bytes, uint64_t value) {
  copy_element(data, &value, bytes);
}
/// An element in memory as the register holds it.
inline uint64_t extend_element(ir::Type elem, uint64_t bits) {
  if (elem == ir::Type::s8) return static_cast<uint32_t>(static_cast<int8_t>(bits));
  return elem == ir::Type::s16 ? static_cast<uint32_t>(static_cast<int16_t>(bits)) : bits;
}

}  // namespace lanewise::reference
