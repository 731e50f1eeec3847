// Any words: what decodes prints to text that assembles to the word, but for bits nobody looks at.
#include <cstdlib>

#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

namespace {

void check_word(const sass::Instruction& i, unsigned arch) {
  if (i.form->decode_only || i.operand(sass::Role::target) != nullptr) return;
  const std::string text = sass::print(i, sass::Style::annotated);
  const sass::Parsed p = sass::parse_instruction(text, arch);
  if (!p.instruction) std::abort();
  if (sass::print(*p.instruction, sass::Style::annotated) != text) std::abort();
  if (!(p.instruction->control == i.control)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const unsigned arch = data[0] % 2 == 0 ? 50 : 52;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  for (const sass::Instruction& i : sass::decode_bundles(bytes, arch, 0).code) check_word(i, arch);
  for (const sass::Instruction& i : sass::decode_words(bytes, arch, 0).code) check_word(i, arch);
  return 0;
}
