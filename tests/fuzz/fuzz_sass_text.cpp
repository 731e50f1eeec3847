// Any text: a listing or diagnostics; what parses prints to text that parses to the same words.
#include <cstdlib>

#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sass::Listing listing = sass::parse(text, 52, 0);
  for (const Diagnostic& d : listing.diagnostics)
    if (d.message.empty() || d.line == 0) std::abort();
  if (!listing.ok()) return 0;
  for (const sass::Kernel& k : listing.kernels)
    for (const sass::Instruction& i : k.code) {
      if (i.operand(sass::Role::target) != nullptr) continue;
      const sass::Parsed again =
          sass::parse_instruction(sass::print(i, sass::Style::annotated), listing.arch);
      if (!again.instruction || again.instruction->word != i.word ||
          !(again.instruction->control == i.control))
        std::abort();
    }
  sass::lower(listing);
  return 0;
}
