// The blocks of a kernel as control comes to them: those of a function once for each chain of calls
// that leads there, so that what is true behind one call does not mix with what is true behind
// another.
#pragma once

#include <optional>
#include <vector>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// A block behind one chain of calls.
struct PathBlock {
  size_t block = 0;                ///< of the analysis
  size_t first = 0;                ///< number of its first instruction among those of all
  std::vector<size_t> successors;  ///< among the PathBlocks
};

class CallPaths {
 public:
  /// Each block is there once.
  explicit CallPaths(const Analysis& analysis);
  /// So it is, too, where it is not certain what a call leads to and that it comes back, and where
  /// there would be too many.
  CallPaths(const Kernel& kernel, const Analysis& analysis);

  const std::vector<PathBlock>& blocks() const { return blocks_; }
  /// Instructions of all blocks together.
  size_t instructions() const { return instructions_; }
  /// Of the block's successors the one that begins with this instruction.
  std::optional<size_t> next(const PathBlock& from, size_t instruction) const;

 private:
  CallPaths(const Analysis& analysis, std::vector<PathBlock> blocks);

  const Analysis& analysis_;
  std::vector<PathBlock> blocks_;  ///< the kernel's first block is the first
  size_t instructions_ = 0;
};

}  // namespace lanewise::gcn
