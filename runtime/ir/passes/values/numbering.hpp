// What registers hold, as numbers: registers with one number hold the same bits.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::ir {

/// Walks a program, each block after those that lead there (but for the back edges of loops), and
/// gives values numbers: a value that can be no other than an earlier one has its number. What is
/// asked about is registers, at the place of the walk: one that the block has read or written, and
/// one with a single unguarded write in all that the write dominates. Of any other it is not known
/// what it holds, if anybody reads it at all.
class Numbering {
 public:
  explicit Numbering(const Program& program);

  /// Blocks in the order of the walk; unreachable ones are left out.
  const std::vector<uint32_t>& blocks() const { return ssa_.order().nodes; }
  void enter(uint32_t block);
  /// To the block's next instruction, and at last to its terminator; instructions behind it have
  /// not been changed yet.
  void next();

  /// Of registers that were added since the walk began nothing is known: each time another number.
  uint32_t of(uint32_t reg);
  uint32_t of(const Operand& operand);

  uint32_t fresh() { return next_++; }
  /// The instruction wrote `number` to `reg`; under a guard the register may keep what it had.
  void write(const Inst& inst, Reg reg, uint32_t number);
  /// A plain move gives its source's number, all else fresh ones.
  void write_all(const Inst& inst);

 private:
  struct Local {
    uint32_t block_visit = 0, number = 0;
  };
  uint32_t number(uint32_t value);
  void learn(uint32_t reg, uint32_t value);

  const Program& p_;
  Ssa ssa_;
  std::vector<uint32_t> number_;  ///< [value], 0 = the walk has not come there
  std::vector<uint32_t> only_;    ///< [register] the value of its only write, if that has no guard
  std::vector<Local> locals_;     ///< [register]
  std::vector<std::pair<uint32_t, uint32_t>> made_;  ///< by the instruction: registers and values
  std::unordered_map<uint64_t, uint32_t> constants_;
  std::unordered_map<uint64_t, uint32_t> symbols_;
  uint32_t block_ = 0, visit_ = 0, next_ = 1;
  uint32_t decides_ = kNone;
  size_t inst_ = 0, insts_ = 0;
};

/// A move that copies all bits of its source.
bool is_plain_move(const Inst& inst);

/// Equal operands give equal results, whenever a lane asks.
bool repeatable(const Inst& inst);
/// The first two operands may change places.
bool commutes(const Inst& inst);
/// What the type of an operation without regard to signs is called.
Type plain_type(const Inst& inst);

/// Registers that other lanes read (readlane): every write counts, wherever its lane is.
std::vector<bool> read_by_others(const Program& program);

}  // namespace lanewise::ir
