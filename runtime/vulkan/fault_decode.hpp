// The fault buffer of shaders/INTERFACE.md.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/guest/engine.hpp"

namespace lanewise::vulkan {

inline constexpr uint32_t kFaultCountWord = 0;
inline constexpr uint32_t kFaultAbortWord = 1;
inline constexpr uint32_t kFaultHeaderWords = 64;
inline constexpr uint32_t kFaultRecordWords = 8;
inline constexpr uint32_t kFaultWords = kFaultHeaderWords + kMaxFaults * kFaultRecordWords;

/// Fills faults (sorted by group, then lane) and fault_count.
void decode_faults(std::span<const uint32_t> words, LaunchResult& result);

/// True when some stored record is of this kind.
bool has_fault(std::span<const uint32_t> words, FaultKind kind);

}  // namespace lanewise::vulkan
