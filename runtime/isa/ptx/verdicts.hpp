// What the checker found of each instruction: lowering goes by it and matches nothing again.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/isa/ptx/check.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {

struct Verdicts {
  std::vector<Diagnostic> diagnostics;                            ///< in line order
  std::unordered_map<const Instruction*, Diagnostic> faults;      ///< of illegal ones the first
  std::unordered_map<const Instruction*, const Form*> forms;      ///< of legal ones
  std::unordered_map<std::string, std::vector<Match>> spellings;  ///< what the forms point into
  /// Qualifiers with those that old files leave out, which spellings refer to.
  std::deque<std::vector<std::string>> defaults;
};
std::unique_ptr<const Verdicts> verdicts(const Module& module, const CheckOptions& options = {});

}  // namespace lanewise::ptx
