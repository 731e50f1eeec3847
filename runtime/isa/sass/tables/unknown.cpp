// Words that no row has: which instruction they would be, by their opcode alone.
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {
namespace {

struct Opcode {
  std::string_view name, pattern;  ///< from bit 63 downwards, as in the table
};

/// Opcodes of graphics and textures, which have no rows.
constexpr Opcode kOpcodes[] = {{"AL2P", "1110 1111 1010 0"},
                               {"ALD", "1110 1111 1101 1"},
                               {"AST", "1110 1111 1111 0"},
                               {"IPA", "1110 0000"},
                               {"ISBERD", "1110 1111 1101 0"},
                               {"OUT", "1111 1011 1110 0"},
                               {"OUT", "1110 1011 1110 0"},
                               {"OUT", "1111 0110 -110 0"},
                               {"PIXLD", "1110 1111 1110 1"},
                               {"STP", "1110 1110 1010 0"},
                               {"SUATOM", "1110 1010 0"},
                               {"SUATOM", "1110 1010 11"},
                               {"SULD", "1110 1011 000"},
                               {"SURED", "1110 1011 010"},
                               {"SUST", "1110 1011 001"},
                               {"TEX", "1100 0"},
                               {"TEX", "1101 1110 10"},
                               {"TEXS", "1101 -00"},
                               {"TLD", "1101 1100"},
                               {"TLD", "1101 1101"},
                               {"TLD4", "1100 10"},
                               {"TLD4", "1101 1110 11"},
                               {"TLD4S", "1101 1111 -0"},
                               {"TLDS", "1101 -01"},
                               {"TMML", "1101 1111 0101 1"},
                               {"TMML", "1101 1111 0110 0"},
                               {"TXA", "1101 1111 0100 0"},
                               {"TXD", "1101 1110 00"},
                               {"TXD", "1101 1110 01"},
                               {"TXQ", "1101 1111 0100 1"},
                               {"TXQ", "1101 1111 0101 0"}};

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
