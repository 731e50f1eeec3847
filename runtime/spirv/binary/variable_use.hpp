// Which variables of a module are read and written where, and where their values still matter.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/spirv/binary/code.hpp"

namespace lanewise::spirv {

/// A set of variables by index.
class VariableSet {
 public:
  explicit VariableSet(size_t count = 0) : words_((count + 63) / 64) {}
  void add(size_t v) { words_[v / 64] |= uint64_t{1} << v % 64; }
  bool has(size_t v) const { return (words_[v / 64] >> v % 64 & 1) != 0; }
  /// Adds the other's elements but those in `without`; true when that changed anything.
  bool join(const VariableSet& other, const VariableSet* without = nullptr);

 private:
  std::vector<uint64_t> words_;
};

/// Variables of storage class Private and Function that a compiler may keep in registers: all but
/// arrays of more than kMostElements, which are memory.
class VariableUse {
 public:
  static constexpr uint32_t kMostElements = 4;

  VariableUse(const Code& code, const std::vector<std::vector<size_t>>& next);

  struct Variable {
    uint32_t id, type;  ///< of what it holds
    bool is_private;
  };
  const std::vector<Variable>& variables() const { return variables_; }
  /// The others: variables that are larger arrays.
  const std::unordered_set<uint32_t>& arrays() const { return arrays_; }
  /// Those written in the loop whose values matter behind it.
  std::vector<size_t> leaving(const CodeLoop& loop) const;

 private:
  struct Effects {
    VariableSet read, written;
  };
  void find_variables(const Code& code);
  void add(const Code& code, uint32_t id, uint32_t pointer_type, bool is_private);
  template <typename OnRead, typename OnWrite>
  void visit(const CodeInst& inst, OnRead read, OnWrite write) const;
  const size_t* variable_of(uint32_t pointer) const;
  void summarise_calls(const Code& code);
  void find_live(const Code& code, const std::vector<std::vector<size_t>>& next);

  std::vector<Variable> variables_;
  std::unordered_set<uint32_t> arrays_;
  std::unordered_map<uint32_t, size_t> root_;  ///< pointer -> variable it points into
  std::unordered_map<uint32_t, Effects>
      calls_;                         ///< function -> what a call does to the Private ones
  std::vector<VariableSet> written_;  ///< [block]
  std::vector<VariableSet> live_in_;  ///< [block]
};

}  // namespace lanewise::spirv
