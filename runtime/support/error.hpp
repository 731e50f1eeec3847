// One error type and one diagnostic type for the whole runtime.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lanewise {

/// Exit codes of the program; an Error says which one it leads to.
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

}  // namespace lanewise
