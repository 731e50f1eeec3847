// What is wrong with an input, as exit code, lines and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "lanewise/error.hpp"

namespace lanewise::cli {

/// One object for each; `file` is the one of those that name none.
nlohmann::json diagnostics_json(const std::string& file, std::span<const Diagnostic> found);

/// Ends a command with these lines on standard error, and with another code than a CompileError.
struct Rejected {
  int code = 1;
  std::string file;
  std::vector<Diagnostic> diagnostics;
};

}  // namespace lanewise::cli
