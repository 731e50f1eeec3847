// Errors of the public API.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lanewise {

/// What went wrong, as the exit code of the command line says it.
enum class ErrorKind : uint8_t {
  guest = 1,   ///< the input program is wrong or a check failed
  usage = 2,   ///< wrong arguments, unreadable or malformed host files
  device = 3,  ///< no such device, driver failure, device lost
  budget = 4,  ///< time or step budget exceeded
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// A message about a place in an input program. line and column count from 1; 0 = unknown.
struct Diagnostic {
  uint32_t line = 0;
  uint32_t column = 0;
  std::string message;  ///< what is wrong, and what was expected
  bool warning = false;
};

/// Thrown when an input program is rejected: every defect that was found, in line order.
/// what() holds them all, one "FILE:LINE:COL: error: ..." a line.
class CompileError : public Error {
 public:
  CompileError(std::string file, std::vector<Diagnostic> diagnostics);
  const std::string& file() const { return file_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
};

/// "FILE:LINE:COL: error: message" (or "warning:").
std::string format(const std::string& file, const Diagnostic& diagnostic);

}  // namespace lanewise
