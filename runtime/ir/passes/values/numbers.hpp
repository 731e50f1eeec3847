// What numbers registers can hold, whatever the launch's data are.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/ir/passes/values/dataflow.hpp"
#include "runtime/ir/passes/values/known.hpp"

namespace lanewise::ir {

/// What is promised of the launch.
struct LaunchNumbers {
  std::optional<Dim3> block = {};          ///< threads of a group
  bool aligned_pointers = false;           ///< parameters that are pointers are multiples of 16
  bool unset_is_zero = false;              ///< registers hold 0 before they are written
  std::optional<Dim3> grid = {};           ///< groups
  std::span<const std::byte> params = {};  ///< the first of the parameters' bytes
};

class Numbers {
  friend class UnderGuard;

 public:
  Numbers(const Program& program, const LaunchNumbers& launch,
          Ssa::Split split = Ssa::Split::at_branches);
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  const Ssa& ssa() const { return ssa_; }
  /// Of a source, as the instruction reads it. Of what is never read in a run, anything.
  Known use(uint32_t block, size_t inst, size_t source) const;
  /// Of a value; anything where it is kNone.
  Known of(uint32_t value) const;
  /// May the block be reached?
  bool reached(uint32_t block) const { return flow_.reached(block); }

  // Of the analysis, for Dataflow.
  void argument(uint32_t value);
  void instruction(uint32_t block, uint32_t inst);
  void leave(uint32_t block);

 private:
  unsigned bits(uint32_t value) const { return bits_of(p_.regs[ssa_[value].reg].width); }
  Known source(uint32_t block, size_t inst, size_t s) const;
  Known result(const Inst& inst, size_t which, uint32_t value, std::span<const Known> in) const;
  Known special(const Inst& inst, unsigned bits) const;
  Known loaded(const Inst& inst, size_t which, unsigned bits) const;
  std::optional<uint64_t> parameter(const Inst& load, size_t which) const;
  void learn(uint32_t value, Known made);
  void find_conditions();
  void find_differences();
  Known difference(uint32_t value, const Known& known) const;
  void find_roots();
  uint32_t root(uint32_t value) const { return value == kNone ? kNone : roots_[value]; }
  std::optional<Type> order(uint32_t block, uint32_t greater, uint32_t less) const;
  std::optional<Type> order_by(uint32_t condition, bool holds, uint32_t greater, uint32_t less,
                               int depth) const;

  /// What a branch on the condition says of the value on the side where it holds or does not.
  Known behind(const Known& known, uint32_t value, uint32_t condition, bool holds, int depth) const;
  void depend(uint32_t condition, uint32_t node, int depth);

  const Program& p_;
  LaunchNumbers launch_;
  Ssa ssa_;
  Dataflow flow_;
  std::vector<uint32_t> roots_;   ///< [value] the first name of the same number
  std::vector<Known> known_;      ///< [value]
  std::vector<uint8_t> growths_;  ///< [value]
  std::unordered_map<uint32_t, std::vector<uint32_t>>
      compared_;  ///< arguments that its bounds are for
  /// factor * whole - (whole & mask): no more is taken away than there is.
  struct Difference {
    uint32_t whole, block, inst;
    size_t mask;  ///< which source of that instruction
    uint64_t factor;
  };
  std::unordered_map<uint32_t, Difference> differences_;  ///< by value
  /// Differences a - b where a branch has found that a >= b, as numbers without or with signs.
  std::unordered_map<uint32_t, Type> ordered_;
  std::vector<Known> in_;
  bool widened_ = false, narrowing_ = false;
};

}  // namespace lanewise::ir
