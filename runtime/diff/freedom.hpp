// What a program leaves open: how far two right executions of it may lie apart.
#pragma once

#include <string>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::diff {

/// One instruction that may give more than one result.
struct FreeOp {
  std::string text;  ///< of the guest
  double error = 0;  ///< of one execution, relative to its result (sin, cos: absolute)
  std::string why;
};

class Freedom {
 public:
  explicit Freedom(const ir::Program& program);
  /// Of one execution of this instruction, relative to its result; 0 where the result is fixed.
  double error(uint32_t block, uint32_t inst) const { return errors_[block][inst]; }
  bool any() const { return !ops_.empty(); }
  /// Each guest instruction once.
  const std::vector<FreeOp>& ops() const { return ops_; }
  /// Instructions that read a clock.
  const std::vector<std::string>& clocks() const { return clocks_; }

 private:
  std::vector<std::vector<double>> errors_;
  std::vector<FreeOp> ops_;
  std::vector<std::string> clocks_;
};

}  // namespace lanewise::diff
