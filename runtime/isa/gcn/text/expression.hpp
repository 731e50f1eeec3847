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
  /// Something else than a sum is computed with places: the text is read again when they are known.
  bool deferred = false;

  bool is_number() const { return symbols.empty(); }
};

/// What is known already of places that have been passed: how far they lie apart.
using KnownPlaces = std::function<std::optional<int64_t>(const Expression&)>;
/// Of symbols whose addresses are known: sums in which they cancel.
KnownPlaces differences(std::function<std::optional<uint64_t>(const std::string&)> address_of);
Expression read_expression(Cursor& in, const KnownPlaces& known = {});
/// A number, a symbol or something in parentheses, with signs in front: what can stand between the
/// bars of an absolute value.
Expression read_primary(Cursor& in);
/// One that has a value by itself.
int64_t read_constant(Cursor& in, const char* what, const KnownPlaces& known = {});

bool in_symbol_name(char c);

/// The text with this name for each `.` that stands for the place itself.
std::string with_here(std::string_view text, const std::string& here);
bool uses_here(std::string_view text);

/// The expression's value. `address_of` gives the address of a symbol, `here` is what it is
/// relative to. Empty, with `problem` set, when it has none.
std::optional<int64_t> value_of(
    const Expression& e,
    const std::function<std::optional<uint64_t>(const std::string&)>& address_of, uint64_t here,
    std::string& problem);

}  // namespace lanewise::gcn
