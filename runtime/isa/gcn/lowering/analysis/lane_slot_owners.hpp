// Whose lanes of vector registers may be scalar registers: those of registers that serve nothing
// else, and those of functions that save a register first and restore it in the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/lowering/analysis/calls.hpp"

namespace lanewise::gcn {

/// An access to one lane that the instruction names (v_writelane, v_readlane), and that is nothing
/// but that. Vector registers count from v0.
struct LaneAccess {
  unsigned vector = 0, lane = 0;
  bool writes = false;
};
std::optional<LaneAccess> lane_access(const Instruction& instruction);

class LaneSlotOwners {
 public:
  /// Where the address of a call is kept in such lanes, nobody knows yet where it leads: those
  /// calls are left out if `trusting`, and the answers want to be confirmed.
  LaneSlotOwners(const Kernel& kernel, const CallTargets& calls, bool trusting);

  /// Who alone uses the lanes of the register that this instruction accesses one of: 0 = all of the
  /// code, which uses the register for nothing else; n = part n - 1 of the code, the kernel's own
  /// being the first and its functions the others. A function is no owner unless it saves the
  /// register for all lanes before it uses it, restores it before it returns, and does not call
  /// itself; by the calling convention it does not look at what its caller left there.
  std::optional<size_t> owner(size_t instruction);
  /// What names the register in the owner's code as it is now.
  std::vector<size_t> naming(size_t owner, unsigned vector) const;
  /// Whether all answers hold in the code that they made of the kernel, whose calls are these. What
  /// runs there is what runs here up to the first call that contradicts them, so there is none.
  bool confirmed(const CallTargets& calls);

 private:
  enum class Use : uint8_t { none, lanes, saved_lanes, saved, other };
  struct Part {
    size_t begin = 0, end = 0;
    std::set<size_t> calls, leaves;  ///< parts that it calls, and that it ends with a jump to
    /// Parts that run while it waits for a call: it is at its end before it jumps away.
    std::set<size_t> reaches;
  };

  void find_parts();
  bool find_calls(const CallTargets& calls, bool trusting);
  bool owns(size_t part, unsigned vector);
  Use use_of(size_t part, unsigned vector);
  Use find_use(const Part& part, unsigned vector) const;
  bool all_lanes_on(size_t index) const;

  const Kernel& kernel_;
  const CallTargets& calls_;
  std::vector<Part> parts_;
  std::vector<size_t> part_of_;  ///< per instruction
  bool calls_known_;             ///< parts are entered at their first instructions alone
  std::set<unsigned> otherwise_used_;
  std::map<std::pair<size_t, unsigned>, Use> uses_;
  std::set<std::pair<size_t, unsigned>> answered_;  ///< parts, and registers that they own
};

}  // namespace lanewise::gcn
