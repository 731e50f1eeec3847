// Why entry points are refused, where several are for the same reason.
#pragma once

namespace lanewise::cuda {

inline constexpr char kNoGraphics[] = "no graphics API shares memory with programs here";
inline constexpr char kNoImports[] = "memory and semaphores of other APIs cannot be imported";
inline constexpr char kNoSharing[] = "no process shares memory with another here";
inline constexpr char kOldAddresses[] = "its addresses have 32 bits: call the second version";
inline constexpr char kRemoved[] = "it was removed from CUDA";
inline constexpr char kNoBatches[] =
    "copies and hints of several ranges in one call are not supported";
inline constexpr char kOneQueue[] =
    "streams share one queue, in which waiting for a value could wait for itself";
inline constexpr char kWholeDevice[] = "a context has the whole device";
inline constexpr char kNoStates[] = "states of the device are not saved";
inline constexpr char kNoLog[] = "there is no log of the driver";
inline constexpr char kNoObjects[] = "graphs keep no objects of the program";

}  // namespace lanewise::cuda
