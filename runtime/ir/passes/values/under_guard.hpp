// What is known of numbers where an instruction's guard and the branches that lead to it hold, also
// of those that were computed before the branch. GCN writes vector registers under EXEC: in lanes
// that are on, each such write was made.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/ir/passes/values/numbers.hpp"

namespace lanewise::ir {

class UnderGuard {
 public:
  /// The numbers must outlive this.
  UnderGuard(const Numbers& numbers, uint32_t block, size_t inst);

  /// Of a source of the instruction, as it reads it where its guard holds.
  Known use(size_t source);

 private:
  /// The condition holds, or does not, wherever the instruction does something.
  void assume(uint32_t condition, bool holds);
  void assume_parts(uint32_t condition, bool holds);
  std::vector<uint32_t> implied_by(uint32_t condition, uint32_t argument, int depth) const;
  const bool* assumed(uint32_t condition) const;
  Known of(uint32_t value, int depth);
  Known made(uint32_t value, int depth);
  Known source(uint32_t block, uint32_t inst, size_t s, int depth);

  const Numbers& numbers_;
  const Ssa& ssa_;
  const Program& p_;
  uint32_t block_;
  size_t inst_;
  std::vector<std::pair<uint32_t, bool>> assumed_;
  std::unordered_map<uint32_t, Known> known_;
};

}  // namespace lanewise::ir
