#include <algorithm>
#include <charconv>

#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx {

bool ParseResult::ok() const {
  return std::ranges::all_of(diagnostics, [](const Diagnostic& d) { return d.warning; });
}

unsigned sm_number(std::string_view target) {
  const size_t at = target.find('_');
  if (at == target.npos) return 0;
  unsigned sm = 0;
  std::from_chars(target.data() + at + 1, target.data() + target.size(), sm);
  return sm;
}

}  // namespace lanewise::ptx
