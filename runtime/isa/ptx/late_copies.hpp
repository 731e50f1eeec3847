// Sizes of the queues in which copies wait under the policy async.copy.
#pragma once

#include <cstdint>

namespace lanewise::ptx {

/// Of a lane, in local memory: cp.async, and bulk copies with groups.
inline constexpr uint32_t kCopyEntries = 256, kCopyEntryBytes = 32;
/// Of the group, in shared memory: what reports to an mbarrier.
inline constexpr uint32_t kMostReporting = 32, kReportingValueBytes = 16,
                          kReportingBytes = 48 + kReportingValueBytes;

}  // namespace lanewise::ptx
