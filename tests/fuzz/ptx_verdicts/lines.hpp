// Random lines of PTX: qualifiers from the patterns of the instruction table, operands from the
// row's list or from a line that was judged before, and faults put into half of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/ptx/table.hpp"
#include "tests/fuzz/programs/random.hpp"

namespace ptx_verdicts {

/// `@%p1 add.s32 %r1, %r2, 5;` taken apart.
struct Line {
  std::string guard, opcode;
  std::vector<std::string> qualifiers, operands;
  std::string text() const;
};
Line taken_apart(std::string_view text);

class Lines {
 public:
  /// `known`: lines whose operands may be used again. `only`: of these opcodes, if any.
  Lines(uint64_t seed, const std::vector<std::string>& known, std::span<const std::string> only);
  std::string next();

 private:
  Line from_row(const lanewise::ptx::CompiledRow& row);
  std::string operand(const lanewise::ptx::OperandSpec& spec, const Line& line,
                      const std::map<std::string_view, std::string>& slots);
  std::string of_type(std::string_view type, bool constant);
  std::string constant(std::string_view type);
  std::string address(std::string_view space);
  std::string any_qualifier();
  std::string any_operand();
  void spoil(Line& line);

  lanewise::programs::Random random_;
  std::vector<const lanewise::ptx::CompiledRow*> rows_;
  std::map<std::string, std::vector<Line>, std::less<>> known_;
  std::vector<std::string> operands_;  ///< of all known lines
};

}  // namespace ptx_verdicts
