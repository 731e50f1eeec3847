// The rules that findings belong to. Their names are stable: suppressions and baselines have them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lanewise::findings {

struct Rule {
  std::string_view id;
  std::string_view level;  ///< as SARIF has it: error, warning, note
  std::string_view what;   ///< one sentence
};

std::span<const Rule> rules();
/// Null: there is none of this name.
const Rule* rule_named(std::string_view id);

/// The rule of a fault, by the name of its kind.
std::string_view rule_of_fault(std::string_view kind, bool freed, bool asserted);

}  // namespace lanewise::findings
