// SASS: the kernel, then its functions.
#include <algorithm>

#include "tests/fuzz/programs/sass/control.hpp"
#include "tests/fuzz/programs/sass/shape.hpp"
#include "tests/fuzz/programs/sass/writer.hpp"

namespace lanewise::programs {
namespace {

Text print_sass(const Program& program, const Style& style) {
  Text t;
  t.target = "sm_50";
  sass::Registers registers(program);
  const bool across = sass::looks_across(program);
  t.code = sass::Code(program, style, registers, nullptr, across).kernel();
  for (uint32_t n = 0; n < program.functions.size(); ++n)
    t.code += sass::Code(program, style, registers, &n, across).function(fmt::format(".L_f{}", n));
  each_statement(program, [&](const Statement& s) {
    if (std::holds_alternative<Exchange>(s.what) || std::holds_alternative<Pool>(s.what))
      t.shared = 4 * std::max(program.block, kPooled);
  });
  return t;
}

}  // namespace

InstructionSet sass_set() {
  using enum CrossOp;
  return {
      "sass",
      32,
      {{ballot, any, all, active, shuffle_index, shuffle_xor, shuffle_up, shuffle_down, read_first},
       true,
       true,
       true,
       true},
      print_sass};
}

}  // namespace lanewise::programs
