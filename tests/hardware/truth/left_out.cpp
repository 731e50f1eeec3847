// What no table of the truth program asks, by name: forms that Lanewise does not run, and forms
// that it runs whose effects a kernel of one instruction does not show.
#include <fmt/format.h>

#include <map>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {
namespace {

struct Left {
  unsigned forms = 0;
  std::string first, why;
};
using ByOpcode = std::map<std::string, Left>;

void print(const std::string& name, const ByOpcode& opcodes, const char* state) {
  for (const auto& [opcode, left] : opcodes)
    kit::print_row({{"kind", "truth"},
                    {"name", fmt::format("{}/{}{}", name, opcode, *state == 's' ? "" : " runs")},
                    {"table", name},
                    {"state", state},
                    {"forms", left.forms},
                    {"first", left.first},
                    {"why", left.why}});
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
    Left& left = (runs ? unasked : refused)[c.form.substr(0, c.form.find('.'))];
    if (left.forms++ == 0) left.first = c.form;
    left.why = runs ? "no table asks it" : "Lanewise does not run it: " + c.note;
  }
  kit::print_row({{"kind", "fact"}, {"name", "forms"}, {"table", all}, {"asked", asked}});
  print(name, refused, "skipped");
  print(name, unasked, "not asked");
  return true;
}

}  // namespace lanewise::truth
