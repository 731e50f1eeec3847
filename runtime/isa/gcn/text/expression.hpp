// Expressions in operands and directives: numbers, symbols, the place itself, and what assemblers
// compute with them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// A number, and addresses that are added to it or taken off.
struct Expression {
  struct Symbol {
    std::string name;
    int times = 1;
  };
  int64_t number = 0;
  std::vector<Symbol> symbols;
  /// What LLVM makes relative to the literal's own place: a symbol that nothing is subtracted from,
  /// or one that says so (@rel32).
  bool relative = false, names_relation = false;
  bool upper = false;  ///< the upper half of the result (@rel32@hi)

  bool is_number() const { return symbols.empty(); }
};

Expression read_expression(Cursor& in);
/// A number, a symbol or something in parentheses, with signs in front: what can stand between the
/// bars of an absolute value.
Expression read_primary(Cursor& in);
/// One that has a value by itself.
int64_t read_constant(Cursor& in, const char* what);

/// The expression's value. `address_of` gives the address of a symbol, `here` is what it is
/// relative to. Empty, with `problem` set, when it has none.
std::optional<int64_t> value_of(
    const Expression& e,
    const std::function<std::optional<uint64_t>(const std::string&)>& address_of, uint64_t here,
    std::string& problem);

}  // namespace lanewise::gcn
