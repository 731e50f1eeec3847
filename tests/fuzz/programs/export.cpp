#include "tests/fuzz/programs/export.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>

namespace lanewise::programs {
namespace {

/// Names of what is in a program.
std::set<std::string> constructs(const Program& p) {
  std::set<std::string> found;
  each_statement(p, [&](const Statement& s) {
    std::string name = fmt::format("statement {}", s.what.index());
    if (const auto* c = std::get_if<Cross>(&s.what))
      name = fmt::format("across {}", static_cast<int>(c->op));
    if (const auto* l = std::get_if<Loop>(&s.what))
      name = fmt::format("loop {}{}", l->tested_first, l->again.has_value());
    if (const auto* l = std::get_if<Leave>(&s.what))
      name = fmt::format("leave {}{}", l->levels, l->goes_on);
    found.insert(name);
  });
  return found;
}

}  // namespace

void export_scripts(const InstructionSet& set, const CampaignOptions& options,
                    const std::string& folder) {
  std::set<std::string> covered;
  std::string text = fmt::format(
      "# Random programs with control flow and what their trees say they store, written by\n"
      "# fuzz_programs --isa {} --seed {} --programs {} --export. Not to be changed by hand.\n",
      set.name, options.seed, options.programs);
  uint64_t written = 0;
  for (uint64_t seed = options.seed; written < options.programs; ++seed) {
    const Made made = make_program(seed, set, options.choices);
    // Small ones, but one that has something new.
    const size_t before = covered.size();
    covered.merge(constructs(made.program));
    if (covered.size() == before && size_of(made.program) > 90) continue;
    ++written;
    text += case_script(made.program, set, set.print(made.program, made.style),
                        evaluate(made.program).value(), {}, fmt::format("program {}", seed));
  }
  const std::string path = fmt::format("{}/{}_programs.lw", folder, set.name);
  std::ofstream(path) << text;
  fmt::print("{}: {} programs, {} kinds of statements\n", path, written, covered.size());
}

}  // namespace lanewise::programs
