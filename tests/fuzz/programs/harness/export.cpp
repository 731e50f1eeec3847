#include "tests/fuzz/programs/harness/export.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/fuzz/programs/evaluate.hpp"
#include "tests/fuzz/programs/harness/script_text.hpp"

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

/// One full wave and a few lanes of another, so that the script stays short.
void few_lanes(Program& p) {
  p.groups = 1;
  p.block = p.wave + 4;
  const auto narrow = [&](auto& self, Block& b) -> void {
    for (Statement& s : b) {
      if (auto* e = std::get_if<Exchange>(&s.what)) e->by = 1 + e->by % (p.block - 1);
      for (Block* inner : blocks_in(s)) self(self, *inner);
    }
  };
  narrow(narrow, p.body);
}

}  // namespace

void export_scripts(const InstructionSet& set, uint64_t seed, uint64_t programs,
                    const Choices& choices, const std::string& folder) {
  std::set<std::string> covered;
  std::string text = fmt::format(
      "# Random programs with control flow and what their trees say they store, written by\n"
      "# fuzz_programs --isa {} --seed {} --programs {}{} --export. Not to be changed by hand.\n",
      set.name, seed, programs, choices.across == Choices::Across::none ? " --across none" : "");
  const std::vector<uint32_t> table = make_program(seed, set, choices).program.table;
  text += table_text(table);
  uint64_t written = 0;
  for (uint64_t next = seed; written < programs; ++next) {
    Made made = make_program(next, set, choices);
    few_lanes(made.program);
    made.program.table = table;
    const auto outcome = evaluate(made.program, uint64_t{500} * made.program.threads());
    if (!outcome || outcome->steps < 16 * made.program.threads()) continue;
    // One that has something new; the last ones are any.
    const size_t before = covered.size();
    covered.merge(constructs(made.program));
    if (covered.size() == before && next < seed + 200) continue;
    ++written;
    text += case_script(made.program, set, set.print(made.program, made.style), *outcome,
                        {.shared_table = true}, fmt::format("program {}", next));
  }
  const std::string path = fmt::format("{}/{}_programs.lw", folder, set.name);
  if (!(std::ofstream(path) << text).flush())
    throw std::runtime_error("cannot write '" + path + "'");
  fmt::print("{}: {} programs, {} kinds of statements\n", path, written, covered.size());
}

}  // namespace lanewise::programs
