// Any bytes: the parser answers with a module or with diagnostics that keep its promises, and what
// it lets through can be judged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/isa/ptx/check.hpp"

using namespace lanewise;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  uint32_t line = 1;
  for (const Diagnostic& d : diagnostics) {
    require(d.line >= line && d.column >= 1 && !d.message.empty());
    line = d.line;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ptx::ParseResult all = ptx::parse(text, 0);
  check_diagnostics(all.diagnostics);
  const ptx::ParseResult few = ptx::parse(text, 3);
  check_diagnostics(few.diagnostics);
  require(few.diagnostics.size() <= 3);
  // A limit hides messages, never the verdict.
  require(few.ok() == all.ok());
  if (all.ok()) check_diagnostics(ptx::check(all.module));
  return 0;
}
