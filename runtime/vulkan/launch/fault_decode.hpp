// The fault buffer of shaders/INTERFACE.md.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/guest/engine.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/layout/host_shader.h"
#include "runtime/spirv/fault_points.hpp"

namespace lanewise::vulkan {

inline constexpr uint32_t kFaultCountWord = host_shader::FAULT_COUNT;
inline constexpr uint32_t kFaultAbortWord = host_shader::FAULT_ABORT;
inline constexpr uint32_t kFaultHeaderWords = host_shader::FAULT_RECORDS;
inline constexpr uint32_t kFaultRecordWords = host_shader::FAULT_RECORD_WORDS;
inline constexpr uint32_t kFaultWords = kFaultHeaderWords + kMaxFaults * kFaultRecordWords;

/// What a launch could reach, as far as its faults depend on it. Bytes.
struct MemoryMap {
  uint64_t arena = 0, params = 0, shared = 0, local = 0;
  uint64_t writable = ~uint64_t{0};  ///< of the arena
  Memcheck memcheck = Memcheck::arena;
  std::span<const Allocation> allocations;
  std::span<const uint32_t> pointers;            ///< ir::PointerParams::through
  std::span<const guest::PointerBounds> bounds;  ///< of each of them
};
MemoryMap memory_map(const LaunchRequest& request, uint64_t arena_bytes);

/// What is wrong with an access that a kernel's check has refused (docs/execution.md).
FaultKind kind_of(const spirv::FaultPoint& access, uint64_t address, const MemoryMap& memory);

/// Fills faults (sorted by group, then lane) and fault_count.
void decode_faults(std::span<const uint32_t> words, std::span<const spirv::FaultPoint> points,
                   const MemoryMap& memory, LaunchResult& result);

/// True when some stored record ends the launch: a used-up step budget.
bool ends_launch(std::span<const uint32_t> words);

}  // namespace lanewise::vulkan
