// What registers hold, as numbers: registers with one number hold the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/ir/passes/flow/cfg.hpp"

namespace lanewise::ir {

/// Walks a program, each block after its dominator, and knows at each place what registers hold.
///
/// Registers are mutable. One with a single unguarded write has a number from there on in all that
/// the write dominates: whoever comes there passed the write after everything it read was written
/// last. Any other register has a number from a write in the block to the next one, and a fresh
/// one where the block begins.
class Numbering {
 public:
  explicit Numbering(const Program& program);

  /// Blocks in the order of the walk; unreachable ones are left out.
  const std::vector<uint32_t>& blocks() const { return order_.nodes; }
  void enter(uint32_t block);

  uint32_t of(uint32_t reg);
  uint32_t of(const Operand& operand);
  /// The number's bits, when it stands for a constant.
  std::optional<uint64_t> constant(uint32_t number) const;

  uint32_t fresh() { return next_++; }
  /// The instruction wrote `number` to `reg`; under a guard the register may keep what it had.
  void write(const Inst& inst, Reg reg, uint32_t number);
  /// A plain move gives its source's number, all else fresh ones.
  void write_all(const Inst& inst);

 private:
  struct Local {
    uint32_t block_visit = 0, number = 0;
  };
  struct Value {
    uint32_t block = kNone;  ///< of the only write, kNone before the walk comes there
    uint32_t number = 0;
  };

  const Program& p_;
  DomTree dom_;
  BlockOrder order_;
  std::vector<bool> single_;   ///< [register]: one write, without a guard
  std::vector<Value> values_;  ///< [register], of those
  std::vector<Local> locals_;  ///< [register], of all others
  std::unordered_map<uint64_t, uint32_t> constants_;
  std::unordered_map<uint64_t, uint32_t> symbols_;
  std::unordered_map<uint32_t, uint64_t> bits_;
  uint32_t block_ = 0, visit_ = 0, next_ = 1;
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
