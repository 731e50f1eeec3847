// Any words: what decodes prints to text that assembles to the same words.
#include <cstdlib>
#include <cstring>

#include "runtime/isa/gcn/code_object.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
    std::vector<Diagnostic> diagnostics;
    for (const auto& i : gcn::decode_code(std::as_bytes(std::span(data, size)), gen, diagnostics)) {
      const gcn::Parsed p = gcn::parse_instruction(i.text, gen);
      if (!p.instruction) continue;  // encodings that the assembler refuses, such as s[3:4]
      if (gcn::print(*p.instruction, gen) != i.text) std::abort();
      if (gcn::encode(*p.instruction, gen).size() > 3) std::abort();
    }
  }
  return 0;
}
