// Cache-exact mode: what loads return comes from caches that are modelled, not from the arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

class ExactMemory {
 public:
  virtual ~ExactMemory() = default;
  /// A launch starts: `arena` is memory as the host left it, its first byte at guest::kArenaBase.
  virtual void begin(std::span<std::byte> arena) = 0;
  /// One access of one wave, in the order of execution. Stores and atomics bring the bytes in
  /// record.values; a load returns what its lanes see, lane after lane.
  virtual std::vector<uint8_t> access(const WaveRecord& record) = 0;
  /// What an atomic of this wave finds at the address.
  virtual void peek(const WaveRecord& record, uint64_t address, std::span<std::byte> to) = 0;
  /// The launch has ended: the arena gets what the host would read.
  virtual void end() = 0;
};

}  // namespace lanewise::trace
