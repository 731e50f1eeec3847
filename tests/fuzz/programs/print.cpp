#include "tests/fuzz/programs/print.hpp"

namespace lanewise::programs {

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = {ptx_set(), sass_set(), gcn_set()};
  return sets;
}

Style random_style(Random& random) {
  Style s;
  s.predicate_ifs = random.chance(2);
  s.rotate_loops = random.chance(2);
  s.join_tests = random.chance(2);
  s.cold_sides = random.chance(4);
  s.one_end = !random.chance(4);
  s.switches =
      random.pick({Style::Switches::chain, Style::Switches::halves, Style::Switches::table});
  s.own_exits = random.chance(2);
  s.seed = random.next();
  return s;
}

}  // namespace lanewise::programs
