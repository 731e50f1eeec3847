// The Maxwell SASS front end: text and words to instructions and back, and on to IR.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/isa/coverage.hpp"
#include "runtime/isa/sass/form.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::sass {

/// Control fields of one instruction, 21 bits, as they stand in the control word.
struct Control {
  static constexpr uint32_t kBlank = 0x7e0;  ///< no scoreboards, no wait, schedule 0
  uint32_t bits = kBlank;

  unsigned sched() const { return bits & 0x1f; }       ///< stall | not-yield << 4
  unsigned write_sb() const { return bits >> 5 & 7; }  ///< 7 = none
  unsigned read_sb() const { return bits >> 8 & 7; }   ///< 7 = none
  unsigned wait_mask() const { return bits >> 11 & 0x3f; }
  bool dual() const { return sched() == 0x10; }
  bool reuse(unsigned slot) const { return (bits >> (17 + slot) & 1) != 0; }
  void set(unsigned pos, unsigned len, uint32_t value) {
    const uint32_t mask = ((1U << len) - 1) << pos;
    bits = (bits & ~mask) | ((value << pos) & mask);
  }
  bool operator==(const Control&) const = default;
};

struct Instruction {
  const Form* form = nullptr;
  uint64_t word = 0;
  Control control;
  uint64_t pc = 0;  ///< byte offset in the code, control words counted
  uint32_t line = 0, column = 0;
  std::string text;   ///< as written; empty for decoded words
  std::string label;  ///< target label of a branch given by name

  uint64_t mod(ModId id) const;
  const OperandSpec* operand(Role role) const { return form->operand(role); }
  unsigned guard() const { return static_cast<unsigned>(kGuard.get(word)); }
  bool guard_negated() const { return kGuardNegate.get(word) != 0; }
};

struct Label {
  std::string name;
  size_t index;  ///< of the instruction that follows
};

struct Kernel {
  std::string name;
  unsigned registers = 0;  ///< of the shader; 0 = not said
  std::vector<Instruction> code;
  std::vector<Label> labels;
};

struct Listing {
  unsigned arch = 50;
  std::vector<Kernel> kernels;
  std::vector<Diagnostic> diagnostics;
  bool ok() const;
};

/// nvdisasm listings and bare instruction lines. Never throws on bad input. A file without a
/// function label is one kernel named "stream".
Listing parse(std::string_view text, unsigned arch = 0 /* what the file says, else 50 */,
              size_t max_errors = 100);

struct Parsed {
  std::optional<Instruction> instruction;
  Diagnostic error;  ///< set when there is no instruction
};
/// One instruction without the semicolon.
Parsed parse_instruction(std::string_view text, unsigned arch = 50);

/// nullopt: no row of the table has this word.
std::optional<Instruction> decode(uint64_t word, Control control = {}, unsigned arch = 50);

enum class Style : uint8_t { nvdisasm, annotated /* with &req, &rd, &wr and ?sched */ };
std::string print(const Instruction& instruction, Style style = Style::nvdisasm);

/// Offset of instruction `index` when code is laid out in bundles of a control word and three.
constexpr uint64_t pc_of(size_t index) {
  return 32 * (index / 3) + 8 + 8 * (index % 3);
}

struct LowerOptions {
  ir::AlignRule align = ir::AlignRule::force;  ///< policy sass.align: force or trap
};
struct LowerResult {
  ir::Module module;
  std::vector<Diagnostic> diagnostics;
};
/// Lowers every kernel that has no parse errors. Kernel parameters are not named in SASS text: each
/// program has param_bytes = the highest parameter byte read, and no Param entries.
LowerResult lower(const Listing& listing, const LowerOptions& options = {});

using isa::Coverage;
using isa::FormState;
/// Every form of the table and, by mnemonic, everything of the ISA it has no row for.
std::vector<Coverage> coverage();
/// State of a form as nvdisasm spells it: mnemonic with all its modifiers.
Coverage coverage_of(std::string_view form);

}  // namespace lanewise::sass
