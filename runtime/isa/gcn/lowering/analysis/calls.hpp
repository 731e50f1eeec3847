// Calls and jumps to addresses. Code lies in the file's image; the guest computes addresses from
// s_getpc_b64 and may keep them anywhere. In scalar registers they are followed: where one address
// can be there the target is known, where several can it is a choice among them. Other calls may
// lead to every function, other jumps behind every call, and both to what left the scalar
// registers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// The kernel with the functions behind it where it has calls, and with other kernels' code where
/// its own may go on there.
Kernel with_functions(const Kernel& kernel, const Listing& listing);

struct CallTargets {
  /// By call or jump that is reached: the instructions it may lead to.
  std::map<size_t, std::vector<size_t>> targets;
  std::set<size_t> certain;  ///< those whose address can be no other
  /// Instructions that cannot run: jumps without a target, what the file does not define.
  std::map<size_t, std::string> problems;
  std::vector<bool> reached;  ///< instructions
  std::set<uint64_t> inside;  ///< targets in the image that lie in the midst of an instruction
};
CallTargets find_call_targets(const Kernel& kernel);

/// Takes away what control never comes to: data behind the code, functions that nobody calls. What
/// was read as one instruction, and is data and another one, is read again. What is left has these
/// targets.
CallTargets keep_reached(Kernel& kernel);

/// Byte in the file's image behind the instruction.
uint64_t address_behind(const Kernel& kernel, size_t index);

}  // namespace lanewise::gcn
