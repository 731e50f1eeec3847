// What the policy async.copy changes in a lowered kernel: constants that these registers get.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::ptx {

inline constexpr std::string_view kCopyLate = "async.late";  ///< pred: copies wait in a queue
inline constexpr std::string_view kCopyArea = "async.area";  ///< where it lies in local memory
inline constexpr uint32_t kCopyEntries = 256, kCopyEntryBytes = 24;

}  // namespace lanewise::ptx
