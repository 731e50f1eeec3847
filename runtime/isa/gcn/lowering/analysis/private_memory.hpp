// Which dwords of a lane's private memory (scratch) an access reaches, where that is known at
// translation: compilers that do not optimise keep every variable there.
#pragma once

#include <vector>

#include "runtime/isa/gcn/lowering/analysis/call_paths.hpp"

namespace lanewise::gcn {

inline constexpr size_t kMostPrivateSlots = 512;
using PrivateSlots = std::bitset<kMostPrivateSlots>;

/// What an instruction accesses of private memory: nothing; whole dwords, each of which has a
/// number; or anything, at an address that is computed, by bytes, as an atomic.
struct PrivateAccess {
  enum class Where : uint8_t { nowhere, slots, anywhere };
  Where where = Where::nowhere;
  std::vector<size_t> slots;  ///< one per dword of the instruction's data
};

struct PrivateMemory {
  /// Its address is in the registers of its descriptor and goes nowhere else, nor does the kernel
  /// find out which flat addresses mean it: so no access but those below reaches it. If false,
  /// nothing is known.
  bool closed = false;
  std::vector<PrivateAccess> at;  ///< by instruction of the paths
};
PrivateMemory private_memory(const Kernel& kernel, const Analysis& analysis,
                             const CallPaths& paths);

}  // namespace lanewise::gcn
