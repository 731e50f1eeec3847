// Words that no row has: which instruction they would be, by their opcode alone.
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {
namespace {

struct Opcode {
  std::string_view name, pattern;  ///< from bit 63 downwards, as in the table
};

/// Short texture forms, from sm_53 on.
constexpr Opcode kOpcodes[] = {
    {"TEXS", "1101 000"}, {"TLDS", "1101 001"}, {"TLD4S", "1101 1111 10"}};

bool fits(std::string_view pattern, uint64_t word) {
  unsigned bit = 63;
  for (const char c : pattern) {
    if (c == ' ') continue;
    if (c != '-' && (word >> bit & 1) != (c == '1' ? 1 : 0)) return false;
    --bit;
  }
  return true;
}

}  // namespace

/// The longest pattern wins; a row of the table says more than a pattern.
std::string_view opcode_name(uint64_t word) {
  for (const Form& f : forms())
    if (f.opcode != 0 && (word & f.opcode) == (f.match & f.opcode))
      return std::string_view(f.mnemonic).substr(0, f.mnemonic.find('.'));
  const Opcode* best = nullptr;
  for (const Opcode& o : kOpcodes)
    if (fits(o.pattern, word) && (best == nullptr || o.pattern.size() > best->pattern.size()))
      best = &o;
  return best == nullptr ? std::string_view{} : best->name;
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
