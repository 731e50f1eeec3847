// Words that no row has: which instruction they would be, by their opcode alone.
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {
std::string_view opcode_name(uint64_t word) {
  for (const Form& f : forms())
    if (f.opcode != 0 && (word & f.opcode) == (f.match & f.opcode))
      return std::string_view(f.mnemonic).substr(0, f.mnemonic.find('.'));
  return {};
}

const Form& unknown_form() {
  static const Form form = [] {
    Form f;
    f.mnemonic = ".word";
    f.unknown = true;
    f.has_guard = false;
    f.variable_latency = true;
    return f;
  }();
  return form;
}

}  // namespace lanewise::sass
