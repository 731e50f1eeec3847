#include <algorithm>

#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx {

bool ParseResult::ok() const {
  return std::ranges::all_of(diagnostics, [](const Diagnostic& d) { return d.warning; });
}

}  // namespace lanewise::ptx
