// Register and instruction types, and what a name in a body stands for.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx::legal {

struct Type {
  enum class Class : uint8_t { none, pred, bits, uint, sint, flt };
  Class cls = Class::none;
  uint16_t bits = 0;
  bool packed = false;       ///< two halves
  bool alternative = false;  ///< bf16, tf32, 8-bit floats: no register is declared like this

  bool is_int() const { return cls == Class::uint || cls == Class::sint; }
  bool is_float() const { return cls == Class::flt; }
  bool is_untyped() const { return cls == Class::bits; }
  bool operator==(const Type&) const = default;
};
/// nullopt for what is no type at all.
std::optional<Type> type_named(std::string_view name);

/// exact = arithmetic; wider = loads, stores and conversions take wider registers, too.
enum class Fit : uint8_t { exact, wider };
/// May a register of type `reg` stand where the instruction says `want`?
bool fits(Type want, Type reg, Fit fit);

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
  Type type;
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
