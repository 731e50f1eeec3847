// Any bytes: the parser answers with cases or with diagnostics that keep its promises, and checking
// what it accepts neither crashes nor takes more than a script may.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/script/script.hpp"

using namespace lanewise;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const script::Script all = script::parse(text, 0);
  for (const Diagnostic& d : all.diagnostics)
    require(d.line >= 1 && d.column >= 1 && !d.message.empty());
  require(!all.cases.empty() || !all.ok());
  const script::Script few = script::parse(text, 2);
  require(few.diagnostics.size() <= 2);
  require(few.ok() == all.ok());
  script::RunOptions options;
  options.read_files = false;
  options.memory_limit = 1 << 16;
  options.step_limit = 1 << 16;
  size_t checked = 0;
  for (const script::Case& c : all.cases)
    if (++checked <= 4) script::check(c, options);
  return 0;
}
