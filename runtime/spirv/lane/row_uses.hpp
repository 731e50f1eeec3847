// Who uses what in a block, as rows of checks ask again and again on their way through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::spirv {

class RowUses {
 public:
  /// The block must outlive this.
  RowUses(const ir::Block& block, const std::vector<bool>& live_out);

  /// The first instruction from n on that rows do not pass.
  size_t stop_behind(size_t n) const { return stops_[n]; }
  /// Behind the last access in front of `stop` that the check with this result allows; 0 = none.
  size_t last_access(uint32_t check, size_t stop) const;
  /// The registers whose values somebody behind the instruction may want. Fast where questions
  /// follow each other through the block.
  const std::vector<bool>& wanted_behind(size_t n);

 private:
  void count(const ir::Inst& inst, int by);
  void add(uint32_t reg, int by);

  const ir::Block& block_;
  const std::vector<bool>& live_out_;
  std::vector<size_t> stops_;
  std::unordered_map<uint32_t, std::vector<size_t>> accesses_;  ///< by the check's register
  std::vector<uint32_t> reads_;  ///< [register] in instructions from at_ on
  std::vector<bool> wanted_;
  size_t at_ = 0;
};

}  // namespace lanewise::spirv
