// What no table of the truth program asks, by name: forms that Lanewise does not run, and forms
// that it runs whose effects a kernel of one instruction does not show.
#include <fmt/format.h>

#include <map>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {
namespace {

/// Forms of an opcode by the reason that they are left out for.
using Left = std::map<std::string, std::vector<std::string>>;
using ByOpcode = std::map<std::string, Left>;

/// The first reason has the opcode's name, further ones have a number behind it.
void print(const std::string& name, const ByOpcode& opcodes, const char* state) {
  for (const auto& [opcode, reasons] : opcodes) {
    size_t number = 0;
    for (const auto& [why, forms] : reasons) {
      const std::string which = ++number == 1 ? "" : fmt::format(" {}", number);
      kit::print_row(
          {{"kind", "truth"},
           {"name", fmt::format("{}/{}{}{}", name, opcode, *state == 's' ? "" : " runs", which)},
           {"table", name},
           {"state", state},
           {"why", why},
           {"forms", forms}});
    }
  }
}

}  // namespace

bool left_out_table(Bench&, const std::string& name) {
  ByOpcode refused, unasked;
  unsigned all = 0, asked = 0;
  for (const auto& c : ptx::coverage()) {
    ++all;
    const bool runs = c.state != ptx::FormState::unsupported;
    if (runs && (asks_values(c.form) || asks_matrix(c.form) || asks_textures(c.form))) {
      ++asked;
      continue;
    }
    const std::string opcode = c.form.substr(0, c.form.find('.'));
    if (runs)
      unasked[opcode]["no table asks it"].push_back(c.form);
    else
      refused[opcode]["Lanewise does not run it: " + c.note].push_back(c.form);
  }
  kit::print_row({{"kind", "fact"}, {"name", "forms"}, {"table", all}, {"asked", asked}});
  print(name, refused, "skipped");
  print(name, unasked, "not asked");
  return true;
}

}  // namespace lanewise::truth
