// Errors inside the script layer: thrown where they are found, caught where work can go on.
#pragma once

#include <cstdint>
#include <string>

namespace lanewise::script {

struct Loc {
  uint32_t line = 1, column = 1;
};

/// Becomes a Diagnostic.
struct Problem {
  Loc loc;
  std::string message;
};

[[noreturn]] inline void fail(Loc loc, std::string message) {
  throw Problem{loc, std::move(message)};
}

}  // namespace lanewise::script
