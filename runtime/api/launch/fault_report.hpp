// What the host is reported a fault.
#pragma once

#include <deque>

#include "lanewise/result.hpp"
#include "runtime/guest/engine.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::host {

/// The launch's memory: what an access may have been near to.
struct FaultMemory {
  std::span<const Allocation> allocations;  ///< sorted by address
  const std::deque<Allocation>& freed;      ///< guest::Allocator::freed()
  std::span<const std::byte> params;
  uint64_t shared = 0;                      ///< bytes of a group
  std::span<const Allocation> closed = {};  ///< guest::Allocator::closed()
};

FaultReport report(const ir::Program& p, const Fault& f, const FaultMemory& memory);

}  // namespace lanewise::host
