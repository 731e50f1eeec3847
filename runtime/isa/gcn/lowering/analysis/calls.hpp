// Calls and jumps to addresses. Code lies in the file's image; the guest computes addresses from
// s_getpc_b64 and may keep them anywhere. Where the sum is known the way is, too; other calls may
// lead to every function, other jumps behind every call.
#pragma once

#include <map>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// The kernel with the functions behind it where it has calls, and with other kernels' code where
/// its own may go on there.
Kernel with_functions(const Kernel& kernel, const Listing& listing);

struct CallWays {
  /// By call or jump: the instructions it may lead to.
  std::map<size_t, std::vector<size_t>> targets;
};
CallWays call_ways(const Kernel& kernel);

/// Byte in the file's image behind the instruction.
uint64_t address_behind(const Kernel& kernel, size_t index);

}  // namespace lanewise::gcn
