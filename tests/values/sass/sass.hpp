// How SASS cases are written. Inputs stand in R8, R9, ...; outputs are taken from R0, R1, ...; both
// start at even registers, so 64-bit values are pairs. R16 to R27 and all predicates are free.
#pragma once

#include <string>
#include <vector>

#include "tests/values/claims.hpp"
#include "tests/values/harness.hpp"
#include "tests/values/numbers.hpp"

namespace values::sass {

const InstructionSet& instruction_set();

/// Operands that are the same in every lane: c[0x0][0x150] and so on.
const std::vector<uint32_t>& constants();
/// "c[0x0][0x150]" for 0.
std::string constant(unsigned index);

/// Every row of the table. The key is the mnemonic and the kinds of its operands.
std::vector<TableRow> table_rows();
/// Key of the row that encodes an instruction; fails the test when none does.
std::string row_of(const std::string& instruction);

/// Modifiers and operand flags of value rows that can run but stood in no case made so far.
std::vector<std::string> missing_modifiers();

/// A case about `instruction`, between lines that prepare operands and fetch results. Devices leave
/// out what reads constants: the reference engine shows where an operand comes from. What has 64 in
/// its name, except a shift, counts as computing with doubles.
struct Line {
  std::string before, instruction, after;
};
Case make(const Line& line, unsigned inputs, unsigned outputs, Tuples tuples, Oracle oracle);

/// The instruction with {b} as the register of input `b`, as constants and as immediates. In the
/// latter two the input has that value in every tuple, so the oracle needs to know nothing of it.
/// Devices run the first alone: the others differ in nothing but where a value comes from.
struct Immediates {
  std::vector<std::pair<std::string, uint32_t>> values;  ///< text, bits
};
const Immediates& integers();  ///< 20 bits with sign
const Immediates& floats();    ///< upper 20 bits of a float
void add_variants(std::vector<Case>& out, const Line& line, unsigned b, unsigned inputs,
                  unsigned outputs, const Tuples& tuples, const Oracle& oracle,
                  const Immediates& immediates);

/// Each file has names of its own.
namespace integer {
std::vector<Case> cases();
}
namespace logic {
std::vector<Case> cases();
}
namespace singles {
std::vector<Case> cases();
}
namespace convert {
std::vector<Case> cases();
}
namespace mufu {
std::vector<Case> cases();
}
namespace doubles {
std::vector<Case> cases();
}
namespace multiply {
std::vector<Case> cases();
}
namespace predicate {
std::vector<Case> cases();
}
namespace video {
std::vector<Case> cases();
}
namespace misc {
std::vector<Case> cases();
}
namespace control {
std::vector<Case> cases();
}
namespace half {
std::vector<Case> cases();
}

}  // namespace values::sass
