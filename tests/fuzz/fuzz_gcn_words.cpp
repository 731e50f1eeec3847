// Any words: what decodes prints to text that assembles to the same words.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/isa/gcn/objects/code_object.hpp"

using namespace lanewise;

namespace {

[[noreturn]] void differs(gcn::Gen gen, const std::string& decoded, const std::string& again) {
  std::fprintf(stderr, "generation %d: '%s' assembles to '%s'\n", static_cast<int>(gen),
               decoded.c_str(), again.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
    std::vector<Diagnostic> diagnostics;
    for (const auto& i : gcn::decode_code(std::as_bytes(std::span(data, size)), gen, diagnostics)) {
      const gcn::Parsed p = gcn::parse_instruction(i.text, gen);
      if (!p.instruction) continue;  // encodings that the assembler refuses, such as s[3:4]
      const std::string again = gcn::print(*p.instruction, gen);
      if (again != i.text) differs(gen, i.text, again);
      if (gcn::encode(*p.instruction, gen).size() > 3) differs(gen, i.text, "more than 3 words");
    }
  }
  return 0;
}
