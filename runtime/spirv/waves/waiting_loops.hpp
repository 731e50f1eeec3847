// Loops in which a lane may wait for what another one does elsewhere.
#pragma once

#include <memory>

#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::spirv {

class WaitingLoops {
 public:
  /// `ssa` must outlive this.
  explicit WaitingLoops(const ir::Ssa& ssa);
  ~WaitingLoops();

  /// Where the branch at the end of the block may keep lanes in a loop until other lanes have
  /// written: what they look at meanwhile. Null where it may not.
  const ir::Inst* looks_at(uint32_t block) const;
  /// What the branch goes by depends on what other lanes write.
  bool depends(uint32_t block) const;
  /// The block is part of a loop around a compare-and-swap, which waits for nobody.
  bool swaps(uint32_t block) const;

 private:
  struct Facts;
  const ir::Ssa& ssa_;
  std::unique_ptr<Facts> facts_;
};

/// Lanes of a group need not make progress on their own: an invocation may carry several, drivers
/// for CPUs run one subgroup after the other, and subgroups may run in step. So a loop that waits
/// for shared memory gets a stop at its back edges, ir::BarrierKind::yield, at which the other
/// lanes of the group have their turn. False: the program has no such loop.
bool yield_in_waits(ir::Program& program);

}  // namespace lanewise::spirv
