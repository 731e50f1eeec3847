// Where values are needed: a value that is only read where a condition holds may be anything
// elsewhere.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::ir {

/// What a register holds behind a guarded write is often read under the same guard alone: GCN
/// writes under EXEC, and predicated code computes what only its own store or load asks for.
class Needs {
 public:
  using Fact = std::pair<uint32_t, bool>;  ///< a predicate, and what it is
  using Facts = std::vector<Fact>;         ///< all of them hold; sorted

  /// Conditions that are known at once; beyond, less is known.
  static constexpr size_t kMostFacts = 32;

  /// The program must outlive this, and instructions keep their places.
  explicit Needs(const Program& program);

  const Ssa& ssa() const { return ssa_; }
  /// No read of the value matters but where the condition, a value, is `holds`; its definition
  /// comes before that of the value, or reads of the value are in places that it dominates.
  bool only_where(uint32_t value, uint32_t condition, bool holds) const;
  /// What holds where the instruction's guard does, or does not; nothing of one without.
  Facts guarded(uint32_t block, size_t inst, bool holds);
  /// What holds wherever the condition, a value, is that, itself among it.
  const Facts& implied(uint32_t condition, bool holds);
  /// Without any effect but its results, so that nothing is lost by running it anyway.
  static bool is_free(const Program& program, const Inst& inst);

 private:
  struct Need {
    bool never = true;
    Facts where;  ///< wherever it is read
  };

  void start();
  void need(uint32_t value, const Facts& where);
  void pass_on(uint32_t value);
  void imply(uint32_t condition, bool holds, Facts& out) const;

  const Program& p_;
  Ssa ssa_;
  std::vector<Need> needs_;  ///< [value]
  std::vector<uint32_t> work_;
  std::unordered_map<uint64_t, Facts> implied_;
};

}  // namespace lanewise::ir
