// Lists of blocks, one for each register.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Blocks of each register, in one list: there are many registers, and most have few.
class BlocksByRegister {
 public:
  explicit BlocksByRegister(size_t regs) : last_(regs, kNone), first_(regs + 1) {}

  /// Blocks come one after the other.
  void add(uint32_t reg, uint32_t block) {
    if (last_[reg] == block) return;
    last_[reg] = block;
    found_.emplace_back(reg, block);
    ++first_[reg + 1];
  }
  bool is_last(uint32_t reg, uint32_t block) const { return last_[reg] == block; }
  /// Before anything else is asked for.
  void sort() {
    for (size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
    blocks_.resize(found_.size());
    std::vector<uint32_t> at(first_.begin(), first_.end() - 1);
    for (const auto& [reg, block] : found_) blocks_[at[reg]++] = block;
  }
  std::span<const uint32_t> of(uint32_t reg) const {
    return std::span(blocks_).subspan(first_[reg], first_[reg + 1] - first_[reg]);
  }

 private:
  std::vector<uint32_t> last_, first_, blocks_;
  std::vector<std::pair<uint32_t, uint32_t>> found_;
};

}  // namespace lanewise::ir
