// The instruction table: one row per group of forms, and how an instruction finds its row.
//
// A row's pattern lists slots, separated by blanks. A slot is `name:a|b|c` (one of these
// qualifiers), `?name:...` (optional), `~name:...` (optional hint: the coverage list shows it one
// at a time, not in every combination) or `flag`, `?flag`, `~flag` (a qualifier that names itself).
// `$set` stands for a named list. Qualifiers may come in any order, as the real assembler takes
// them; two slots with the same qualifiers (cvt's types) are filled left to right. A lone `*`
// matches everything.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/ptx/semantics/ptype.hpp"

namespace lanewise::ptx {

class Emit;
class Form;
using LowerFn = void (*)(Emit&);
/// Combinations the slots cannot exclude: nullptr when fine, else why not.
using CheckFn = std::string (*)(const Form&);

struct Row {
  const char* opcode;
  const char* pattern;
  LowerFn lower;
  uint8_t min_operands, max_operands;
  const char* note = "";  ///< how approximate, or why unsupported
  CheckFn check = nullptr;
  std::optional<isa::Claim> claim = {};  ///< absent: what the family claims
};

/// The qualifiers of one instruction, sorted into the slots of its row.
class Form {
 public:
  const Row* row = nullptr;
  std::string_view get(std::string_view slot) const;
  bool has(std::string_view slot) const { return !get(slot).empty(); }
  /// The type in a slot; the slot must be filled.
  PType type(std::string_view slot = "type") const;
  std::vector<std::pair<std::string_view, std::string_view>> values;  ///< slot, qualifier
};

struct Match {
  Form form;
  std::string error;  ///< empty when a row matched
  bool unknown_opcode = false;
};
/// Finds the row for an opcode and its qualifiers.
Match match_form(std::string_view opcode, std::span<const std::string> mods);
/// Do all of these stand in some row, of whatever opcode?
bool are_qualifiers(std::span<const std::string> mods);

/// The rows of each family.
std::span<const Row> move_rows();
std::span<const Row> integer_rows();
std::span<const Row> bit_rows();
std::span<const Row> carry_rows();
std::span<const Row> compare_rows();
std::span<const Row> float_rows();
std::span<const Row> half_rows();
std::span<const Row> convert_rows();
std::span<const Row> bf16_rows();
std::span<const Row> bfloat_rows();
std::span<const Row> memory_rows();
std::span<const Row> atomic_rows();
std::span<const Row> cache_rows();
std::span<const Row> sync_rows();
std::span<const Row> control_rows();
std::span<const Row> stack_rows();
std::span<const Row> wave_rows();
std::span<const Row> video_rows();
std::span<const Row> absent_rows();

}  // namespace lanewise::ptx
