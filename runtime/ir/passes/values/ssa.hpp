// The values that a program's registers hold: each has one definition. Registers stay where they
// are; each read is given the value that it sees.
//
// Where paths bring different values of a register together and somebody reads it, the block has an
// argument, with one input for each block that leads there. A guarded write makes two values: what
// it computed, and the merge of that with what the register held before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/ir/passes/flow/cfg.hpp"

namespace lanewise::ir {

class Ssa {
 public:
  enum class Kind : uint8_t {
    entry,     ///< what the register held when the kernel began
    result,    ///< destination `which` of the instruction
    merge,     ///< of a guarded instruction: inputs are its result and the value before
    argument,  ///< of the block: inputs as incoming() lists them
  };
  struct Value {
    Kind kind = Kind::entry;
    uint8_t which = 0;
    uint32_t reg = 0, block = 0;
    uint32_t inst = 0;  ///< in the block; of arguments the index among them
    uint32_t first_input = 0, inputs = 0;
  };
  /// An edge that leads to a block; the first one of the entry block comes from nowhere (kNone).
  struct Incoming {
    uint32_t from = kNone;
    uint32_t edge = kNone;  ///< first_edge(from) + index among its successors
  };
  enum class Split : uint8_t {
    at_joins,
    /// Registers that a branch compares get values of their own behind it, so that what the branch
    /// found out is known of them: arguments of blocks with one predecessor.
    at_branches,
  };

  /// The program must outlive this, and instructions keep their places.
  explicit Ssa(const Program& program, Split split = Split::at_joins);

  const Program& program() const { return *program_; }
  const Graph& graph() const { return graph_; }
  const BlockOrder& order() const { return order_; }
  const DomTree& dom() const { return dom_; }

  size_t size() const { return values_.size(); }
  const Value& operator[](uint32_t value) const { return values_[value]; }
  std::span<const uint32_t> inputs(uint32_t value) const {
    return std::span(inputs_).subspan(values_[value].first_input, values_[value].inputs);
  }
  /// The instruction whose result the value is, whether or not it has a guard; null of others.
  const Inst* made_by(uint32_t value) const;

  /// Values that are read; kNone where the operand is no register, and in blocks that are never
  /// reached. The terminator is the instruction behind the last: its only source is the condition
  /// or the selector.
  uint32_t use(uint32_t block, size_t inst, size_t source) const;
  uint32_t guard(uint32_t block, size_t inst) const;
  uint32_t hint(uint32_t block, size_t inst) const;
  uint32_t deciding(uint32_t block) const { return use(block, block_insts(block), 0); }
  /// What the register holds behind the instruction.
  uint32_t defined(uint32_t block, size_t inst, size_t which) const;

  std::span<const Incoming> incoming(uint32_t block) const {
    return std::span(incoming_).subspan(first_incoming_[block], arrived_[block]);
  }
  uint32_t first_edge(uint32_t block) const { return first_edge_[block]; }
  uint32_t edges() const { return first_edge_.back(); }
  /// Arguments have consecutive numbers.
  uint32_t first_argument(uint32_t block) const { return first_argument_[block]; }
  uint32_t arguments(uint32_t block) const { return static_cast<uint32_t>(args_[block].size()); }

  /// What analyses look at: a block's arguments, its instructions and its terminator, in reverse
  /// postorder of blocks.
  uint32_t nodes() const { return static_cast<uint32_t>(block_of_.size()); }
  uint32_t first_node(uint32_t block) const { return first_node_[block]; }
  uint32_t block_of(uint32_t node) const { return block_of_[node]; }
  /// Arguments, instructions and terminators that read the value.
  std::span<const uint32_t> users(uint32_t value) const {
    return std::span(users_).subspan(first_user_[value],
                                     first_user_[value + 1] - first_user_[value]);
  }

 private:
  size_t block_insts(uint32_t block) const { return program_->blocks[block].insts.size(); }
  void number_nodes();
  void rename();
  void rename(uint32_t block);
  uint32_t read(uint32_t reg);
  void write(uint32_t reg, uint32_t value);
  uint32_t add(const Value& value);
  void list_users();

  const Program* program_;
  Graph graph_;
  BlockOrder order_;
  DomTree dom_;
  std::vector<std::vector<uint32_t>> args_;  ///< [block] registers
  std::vector<Value> values_;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> first_argument_, first_edge_, first_incoming_, arrived_;  ///< [block]
  std::vector<Incoming> incoming_;
  std::vector<uint32_t> first_node_;             ///< [block]
  std::vector<uint32_t> block_of_, first_slot_;  ///< [node]
  std::vector<uint32_t> slots_;                  ///< sources, guard, hint, destinations
  std::vector<uint32_t> first_user_, users_;
  std::vector<uint32_t> entry_, now_;                ///< [register], while renaming
  std::vector<std::pair<uint32_t, uint32_t>> undo_;  ///< register, its value before
};

/// The condition that held, or did not, when control came to the block, if there is one.
struct BranchTo {
  uint32_t condition = kNone;
  bool holds = false;
};
/// So many blocks up the tree of dominators are looked at for them.
inline constexpr int kMostDominators = 32;
std::optional<BranchTo> branch_to(const Ssa& ssa, uint32_t block);

/// What holds where the condition, a value, does or does not: calls visit(condition, holds) for
/// each that its move, `not`, `and` or `or` is made of. Their definitions dominate its own.
template <typename Visit>
void each_implied(const Ssa& ssa, uint32_t condition, bool holds, Visit visit) {
  const Inst* made = ssa.made_by(condition);
  if (made == nullptr || made->type != Type::pred) return;
  const bool one = made->op == Op::mov || made->op == Op::not_;
  if (!one && made->op != (holds ? Op::and_ : Op::or_)) return;
  for (size_t s = 0; s < (one ? 1 : 2); ++s) {
    const uint32_t part = ssa.use(ssa[condition].block, ssa[condition].inst, s);
    if (part != kNone) visit(part, holds != (made->op == Op::not_));
  }
}

/// The values beside the program's text, for people and tests.
std::string print(const Ssa& ssa);
/// What is wrong with it: each read must be reached by its value on every path.
std::vector<std::string> verify(const Ssa& ssa);

}  // namespace lanewise::ir
