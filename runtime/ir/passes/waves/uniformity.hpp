// Which values are the same in all lanes that hold them, and which blocks lanes come to together.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/numbers.hpp"

namespace lanewise::ir {

/// Equal operands in all lanes give equal results in all lanes.
bool keeps_uniform(const Inst& inst, Together together);

/// Blocks in which lanes may end, but by the block's terminator.
std::vector<bool> may_end(const Program& program);

/// Conservative: `true` is a proof.
class Uniformity {
 public:
  enum class Follow : uint8_t {
    values,
    /// Masks, too: what is one number is that in all lanes, wherever it was written, and ballots
    /// on what the group agrees about are 0 in all of its waves or in none.
    masks,
  };
  explicit Uniformity(const Program& program, Together together = Together::group,
                      Follow follow = Follow::values);
  Uniformity(const Uniformity&) = delete;
  Uniformity& operator=(const Uniformity&) = delete;

  const Ssa& ssa() const { return ssa_; }
  /// Is the block reached by all lanes together or not at all?
  bool block(uint32_t block) const { return block_[block]; }
  bool value(uint32_t value) const { return value == kNone || value_[value]; }
  bool use(uint32_t block, size_t inst, size_t source) const {
    return value(ssa_.use(block, inst, source));
  }
  bool guard(uint32_t block, size_t inst) const { return value(ssa_.guard(block, inst)); }
  /// Do all lanes leave the block in one direction?
  bool decides(uint32_t block) const { return value(ssa_.deciding(block)); }
  /// All values that the register ever holds are, and were written where lanes are together.
  std::vector<bool> registers() const;

  // Of the analysis, for Dataflow.
  void argument(uint32_t value);
  void instruction(uint32_t block, uint32_t inst);
  void leave(uint32_t block);

 private:
  bool scalar(uint32_t value) const;
  bool uniform(uint32_t block, uint32_t inst) const;
  bool zero_together(uint32_t block, uint32_t inst) const;
  bool asks_for_zero(uint32_t block, uint32_t inst) const;
  void forget(uint32_t value, bool uniform, bool zeros);
  void split(uint32_t block);

  const Program& p_;
  Together together_;
  std::optional<Numbers> numbers_;  ///< where masks are followed
  std::optional<Ssa> own_;
  const Ssa& ssa_;
  Dataflow flow_;
  DomTree postdom_;
  std::vector<bool> block_, split_;  ///< [block]; lanes may leave it in different directions
  std::vector<bool> value_, zeros_;  ///< [value]; 0 in all lanes or in none
};

}  // namespace lanewise::ir
