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
  /// What accesses with an address in one register touch together, from what is added to it on.
  struct Stretch {
    int64_t least = 0, end = 0;
  };

  /// The block, and the registers that are live behind it, must outlive this.
  RowUses(const ir::Block& block, const std::vector<uint32_t>& live_out);

  /// The first instruction from n on that rows do not pass.
  size_t stop_behind(size_t n) const { return stops_[n]; }
  /// Behind the last access in front of `stop` that the check with this result allows; 0 = none.
  size_t last_access(uint32_t check, size_t stop) const;
  /// Of the accesses that happen whenever the checked one does, in the same way, with its address;
  /// nullptr = it stands alone.
  const Stretch* stretch_of(size_t check) const;
  /// May somebody from instruction n on want the register's value? Fast where questions follow each
  /// other through the block.
  bool wanted(size_t n, uint32_t reg);

 private:
  void count(const ir::Inst& inst, int by);
  void find_stretches();

  const ir::Block& block_;
  const std::vector<uint32_t>& live_out_;
  std::vector<size_t> stops_;
  std::unordered_map<uint32_t, std::vector<size_t>> accesses_;  ///< by the check's register
  std::vector<Stretch> stretches_;
  std::unordered_map<size_t, size_t> stretch_;  ///< of a check; index of stretches_
  std::unordered_map<uint32_t, int> reads_;     ///< by register, in instructions from at_ on
  size_t at_ = 0;
};

}  // namespace lanewise::spirv
