// The instruction table: one row per group of forms. A row says how the form is written, which
// operands it takes, where it exists, and what it becomes; an instruction is matched once.
//
// A row's pattern lists slots in the order that the manual writes them, separated by blanks. A slot
// is `name:a|b|c` (one of these qualifiers must stand), `?name:...` (may stand), `~name:...` (may
// stand, and the coverage list shows it one at a time, not in every combination) or `flag`,
// `?flag`,
// `~flag` (a qualifier that names itself). `$set` stands for a named list. The assembler takes
// qualifiers in any order, except for types, whose order counts, and for slots that begin with `^`
// (behind the `?`): they belong to the opcode, nothing may stand before them. A slot that ends with
// `+` may be written more than once, but for the manual; one that ends with `!` is no slot of the
// manual. `a@90.80` is a qualifier that needs sm_90
// and .version 8.0, `@=90.80` one that only the targets with features of their own have (sm_90a).
//
// Operands are listed alike (operands.cpp has the letters): `d s s` is a destination of the type in
// the slot `type` and two sources. Where a rule stands in their place, it judges them.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/ptx/ptype.hpp"

namespace lanewise::ptx {

namespace legal {
class Context;
using Rule = void (*)(Context&);
}  // namespace legal

class Emit;
class Form;
using LowerFn = void (*)(Emit&);
/// Combinations of qualifiers that the slots cannot exclude: empty when fine, else why not.
using CheckFn = std::string (*)(const Form&);

/// Where something exists. "90.80": from sm_90 and .version 8.0 on; "90a.80": those of them with
/// features of their own; "=100.86": a family of such targets (check_context.cpp); "<70": what ends
/// before sm_70; "old": only the assembler of PTX 7.8 takes it.
struct Gate {
  uint8_t sm = 0, version = 0, family = 0;
  bool own = false;   ///< and of targets with features of their own alone
  uint8_t below = 0;  ///< targets from here on lack it
  bool old = false;   ///< only the assembler of PTX 7.8 has it
  bool operator==(const Gate&) const = default;
  bool empty() const { return *this == Gate{}; }
};

struct Row {
  /// A list of operands, a rule that judges them, or both.
  struct Takes {
    constexpr Takes(const char* operands, legal::Rule also = nullptr)
        : list(operands), rule(also) {}
    constexpr Takes(legal::Rule judges) : rule(judges) {}
    const char* list = nullptr;
    legal::Rule rule = nullptr;
  };
  /// What the instruction becomes, or why it does not run.
  struct Becomes {
    constexpr Becomes(LowerFn code) : lower(code) {}
    constexpr Becomes(const char* obstacle) : why(obstacle) {}
    LowerFn lower = nullptr;
    const char* why = nullptr;
  };
  /// `gated`: the opcode, and behind a `@` what all its forms need: "prefetch@80.74".
  constexpr Row(std::string_view gated, const char* form, Takes takes, Becomes becomes,
                const char* bound = "", std::optional<isa::Claim> claims = {},
                CheckFn checks = nullptr)
      : opcode(gated.substr(0, gated.find('@'))),
        needs(gated.substr(std::min(opcode.size() + 1, gated.size()))),
        pattern(form),
        operands(takes.list),
        rule(takes.rule),
        lower(becomes.lower),
        note(becomes.why != nullptr ? becomes.why : bound),
        claim(claims),
        check(checks) {}
  constexpr Row(std::string_view gated, const char* form, Takes takes, Becomes becomes,
                const char* bound, CheckFn checks)
      : Row(gated, form, takes, becomes, bound, {}, checks) {}

  std::string_view opcode, needs;
  const char* pattern;
  const char* operands;             ///< null: the rule judges them
  legal::Rule rule;                 ///< what slots and operand list cannot say
  LowerFn lower;                    ///< null where it does not run
  const char* note;                 ///< how approximate, or why unsupported
  std::optional<isa::Claim> claim;  ///< absent: what the family claims
  CheckFn check;
};

constexpr Row::Takes judged(const char* operands, legal::Rule rule) {
  return {operands, rule};
}

/// One operand of a row's list.
struct OperandSpec {
  char kind = 's';
  bool optional = false, sink = false, pair = false, both = false, wider = false;
  std::string_view type;  ///< a type, or `$slot`
  unsigned scale = 1;     ///< `*2`: a type twice as wide
  unsigned count = 0;     ///< elements of a vector; 0 = as the slot `vec` says
  std::string_view when;  ///< `&bool`: stands where the slot `bool` is filled, and only there
  int64_t low = 0, high = -1;
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
  std::vector<std::pair<Gate, std::string_view>> gates;               ///< and what needs them
  std::vector<std::string_view> ignored;                              ///< qualifiers without effect
  std::span<const OperandSpec> operands;                              ///< the row's list
};

struct Match {
  Form form;
  std::string error;  ///< empty when a row matched
  bool unknown_opcode = false;
};
/// Finds the row that says what an opcode with these qualifiers becomes.
/// The number that this part of a form begins with, 0 where it begins with none.
unsigned leading_number(std::string_view text);
Match match_form(std::string_view opcode, std::span<const std::string> mods);
/// All rows that judge these qualifiers, the first one first; when there is none, the best try.
std::vector<Match> matches(std::string_view opcode, std::span<const std::string> mods, bool manual);
/// Do all of these stand in some row, of whatever opcode?
bool are_qualifiers(std::span<const std::string> mods);

/// A row with its pattern taken apart.
struct Slot {
  std::string_view name;
  std::vector<std::string_view> values;
  std::vector<Gate> gates;  ///< of each value
  bool optional = false, hint = false;
  bool leads = false;    ///< belongs to the opcode
  bool repeats = false;  ///< the assembler takes it more than once
  bool beyond_manual = false;
  bool is_type = false;
};
struct CompiledRow {
  const Row* row;
  std::vector<Slot> slots;
  bool any = false;
  isa::Claim claim = isa::Claim::none;
  Gate gate;
  std::vector<OperandSpec> operands;
};
const std::vector<CompiledRow>& table();

/// The rows of each family.
using Rows = const std::span<const Row>;
extern Rows move_rows;
extern Rows space_rows;
extern Rows integer_rows;
extern Rows bit_rows;
extern Rows carry_rows;
extern Rows compare_rows;
extern Rows float_rows;
extern Rows half_rows;
extern Rows convert_rows;
extern Rows bf16_rows;
extern Rows bfloat_rows;
extern Rows fp8_rows;
extern Rows memory_rows;
extern Rows atomic_rows;
extern Rows cache_rows;
extern Rows sync_rows;
extern Rows control_rows;
extern Rows stack_rows;
extern Rows wave_rows;
extern Rows video_rows;
extern Rows arithmetic_rows;
extern Rows texture_rows;
extern Rows matrix_rows;
extern Rows tensor_rows;
extern Rows cluster_rows;

}  // namespace lanewise::ptx
