// What the policy async.copy changes in a lowered kernel: constants that these registers get.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::ptx {

inline constexpr std::string_view kCopyLate = "async.late";  ///< pred: copies wait in a queue
/// Where the lane's queues lie in local memory: those of cp.async, of bulk copies with groups.
inline constexpr std::string_view kCopyArea = "async.area", kBulkArea = "async.bulk_area";
inline constexpr uint32_t kCopyEntries = 256, kCopyEntryBytes = 32;
/// Bulk copies that report to an mbarrier, in the group's shared memory: their number.
inline constexpr std::string_view kReportingEntries = "async.reporting";
inline constexpr uint32_t kMostReporting = 32, kReportingBytes = 32;

}  // namespace lanewise::ptx
