// Finds the bytes of a guest access, or says why the guest may not have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
Located locate(const MemoryView& memory, uint32_t lane, const Access& access);
/// Addresses around this one at which locate() finds the bytes, but for the alignment; no data
/// where it does not, or where each address has to be asked for.
Range reachable(const MemoryView& memory, const Access& access, uint64_t address);

/// Rounds the alignment up to a power of two: a three-word access is aligned like a four-word one.
uint64_t alignment_mask(uint32_t alignment);

/// Constant sizes become single moves.
inline uint64_t read_little_endian(const std::byte* data, unsigned bytes) {
  uint64_t value = 0;
  switch (bytes) {
    case 1:
      std::memcpy(&value, data, 1);
      break;
    case 2:
      std::memcpy(&value, data, 2);
      break;
    case 4:
      std::memcpy(&value, data, 4);
      break;
    default:
      std::memcpy(&value, data, 8);
  }
  return value;
}
inline void write_little_endian(std::byte* data, unsigned bytes, uint64_t value) {
  switch (bytes) {
    case 1:
      std::memcpy(data, &value, 1);
      break;
    case 2:
      std::memcpy(data, &value, 2);
      break;
    case 4:
      std::memcpy(data, &value, 4);
      break;
    default:
      std::memcpy(data, &value, 8);
  }
}
/// An element in memory as the register holds it.
uint64_t extend_element(ir::Type elem, uint64_t bits);

}  // namespace lanewise::reference
