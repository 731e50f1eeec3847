// What a function mentions, found once before any lowering: callees, variables, taken addresses.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx {

struct FunctionUses {
  std::unordered_set<std::string> names;         ///< every identifier in an operand
  std::unordered_set<std::string> values;        ///< identifiers used as plain values outside calls
  std::vector<const Variable*> shared;           ///< .shared variables declared inside
  std::vector<const CallPrototype*> prototypes;  ///< of calls by way of pointers
};
FunctionUses scan_function(const Function& function);

/// Bytes of a variable; unsized arrays count as 0.
uint64_t variable_bytes(const Variable& variable);
uint32_t variable_align(const Variable& variable);

}  // namespace lanewise::ptx
