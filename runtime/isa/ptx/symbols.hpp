// What a name in a body stands for.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/isa/ptx/ast.hpp"
#include "runtime/isa/ptx/ptype.hpp"

namespace lanewise::ptx::legal {

/// A read-only register of the machine.
struct Special {
  enum class Kind : uint8_t { word, half_too, word_or_long, wide, vector, predicate };
  std::string_view name;  ///< without component; `#` at its end stands for a number
  Kind kind;
  uint8_t sm, version;
};
const Special* special_named(std::string_view name);

struct Symbol {
  enum class Kind : uint8_t { none, reg, variable, function, special, label, targets, prototype };
  Kind kind = Kind::none;
  PType type;
  uint32_t vector = 1;  ///< elements of a vector register
  const Variable* variable = nullptr;
  const Special* special = nullptr;
  const Function* function = nullptr;
  const TargetList* targets = nullptr;
  const CallPrototype* prototype = nullptr;
  bool parameter = false;  ///< of the function around, not a .param variable of its body
  bool entry = false;      ///< that function is a kernel
  bool input = false;      ///< a parameter that the function reads, not its result
};

/// The names that are visible at one place, the innermost scope last.
class Symbols {
 public:
  explicit Symbols(const Module& module);
  void enter(const Function& function);
  void open(const Scope& scope);
  void close() { scopes_.pop_back(); }
  Symbol find(std::string_view name) const;

 private:
  struct Entry {
    Symbol symbol;
    std::optional<uint32_t> range;
  };
  using Names = std::unordered_map<std::string_view, Entry>;
  Symbol& declare(Names& names, const Variable& v);
  const Entry* lookup(std::string_view name) const;

  Names globals_;
  std::vector<Names> scopes_;
};

}  // namespace lanewise::ptx::legal
