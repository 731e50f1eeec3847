// Where kernels leave what they print: a variable of the module that they write records to, and
// that the host reads and empties after each launch.
//
//   +0   bytes of records that were asked for; more than the capacity: some did not fit
//   +4   bytes of the whole variable (for GCN's device library)
//   +8   records, one behind the other
//
// A record of a CUDA kernel (one call of vprintf) is a multiple of 8 bytes:
//   +0   its bytes   +4   words of arguments (16 bits), where strings begin (16 bits, in units of 8
//   bytes; 0: there are none)   +8   address of the format   +16   the arguments
// Strings are copies of what arguments pointed to, each with a header and a multiple of 8 bytes:
//   +0   where the argument lies behind the first one, in units of 8 bytes   +4   bytes, with the
//   zero at the end unless the memory ended before   +8   these
// One of an OpenCL kernel is the number of its format among the code object's, and the arguments.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::guest {

inline constexpr std::string_view kPrintBuffer = "printed output";
inline constexpr uint32_t kPrintHeader = 8;
/// As much as CUDA's runtime keeps unless the program sets another size.
inline constexpr uint32_t kPrintBytes = 1 << 20;
inline constexpr uint32_t kPrintCapacity = kPrintBytes - kPrintHeader;
inline constexpr uint32_t kPrintRecordHeader = 16;
inline constexpr uint32_t kPrintStringHeader = 8;
/// Of a call whose format is not known at translation.
inline constexpr uint32_t kMostPrintWords = 64;

}  // namespace lanewise::guest
