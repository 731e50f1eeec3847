// What the truth program does not ask yet, by name.
#include <fmt/format.h>

#include <map>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {

bool left_out_table(Bench&, const std::string& name) {
  std::map<std::string, std::pair<unsigned, std::string>> opcodes;
  for (const auto& c : ptx::coverage()) {
    if (c.state != ptx::FormState::unsupported) continue;
    auto& [count, note] = opcodes[c.form.substr(0, c.form.find('.'))];
    ++count;
    note = c.note;
  }
  for (const auto& [opcode, why] : opcodes)
    kit::print_row({{"kind", "truth"},
                    {"name", fmt::format("{}/{}", name, opcode)},
                    {"table", name},
                    {"state", "skipped"},
                    {"forms", why.first},
                    {"why", "Lanewise does not run it: " + why.second}});
  return true;
}

}  // namespace lanewise::truth
