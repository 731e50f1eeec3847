// What one launch of a submission has for itself: its launch block, its fault buffer, its list of
// allocations (shaders/INTERFACE.md), and the descriptor set that binds them.
#pragma once

#include "runtime/guest/allocation_table.hpp"
#include "runtime/vulkan/launch/fault_decode.hpp"
#include "runtime/vulkan/memory/arena.hpp"
#include "runtime/vulkan/memory/imported.hpp"
#include "runtime/vulkan/pipeline/kernel_cache.hpp"

namespace lanewise::vulkan {

/// Slots of backing memory begin at multiples of it.
inline uint64_t align16(uint64_t n) {
  return (n + 15) / 16 * 16;
}

/// Makes a buffer that the host sees at least so large; contents are lost when it grows.
void ensure(const Device& device, Buffer& buffer, uint64_t bytes, Place place);

/// The memory that launches reach.
struct Reached {
  const Arena& arena;
  const ImportedMemory& imported;
};

struct LaunchSlot {
  Buffer launch, faults, allocations;
  size_t set;  ///< of Pipelines
  PushWords push{};
  uint64_t backing_slots = 1;
  uint64_t record_at = 0;  ///< byte of the backing buffer where the launch's record begins

  LaunchSlot(const Device& device, Pipelines& pipelines);
  /// Fills everything but the descriptor set. `backing_slots` and `record_at` stand already.
  void write(const Device& device, const Reached& memory, const LaunchRequest& request,
             const Kernel& kernel, std::span<const guest::PointerBounds> bounds);

  /// Where the backing buffer lies, once it is as large as all launches of a submission want it.
  void write_backing(const Buffer& backing);

  volatile uint32_t& fault_word(uint32_t i) const { return faults.words()[i]; }
  std::vector<uint32_t> fault_snapshot() const;
  /// Has one lane used up its steps? That ends the launch (docs/execution.md).
  bool must_end() const;
  /// This notifies the others.
  void end_if_asked() const;

 private:
  void write_launch_block(const Device& device, const Reached& memory, const LaunchRequest& request,
                          const Kernel& kernel, std::span<const guest::PointerBounds> bounds);
  void write_allocations(const Device& device, const Reached& memory, const LaunchRequest& request);

  void clear_faults();

  guest::AllocationTable listed_;  ///< what `allocations` holds
  guest::AllocationTable wanted_;  ///< its memory is used again
};

}  // namespace lanewise::vulkan
