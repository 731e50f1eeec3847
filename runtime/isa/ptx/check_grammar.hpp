// The grammar of the checked instructions as data: one row per form.
//
// A row's pattern lists slots in the order that the manual writes them, separated by blanks. A slot
// is `name:a|b|c` (one of these qualifiers must stand), `?name:a|b` (may stand), `flag` or `?flag`
// (a qualifier that names itself). `$set` stands for a named list. In ptxas mode the qualifiers may
// come in any order; two slots that share qualifiers are filled from left to right. A slot that
// begins with `^` (behind the `?`) belongs to the opcode: nothing may stand before it. One that
// ends with `+` may be written more than once, but for the manual.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx::legal {

enum class For : uint8_t { both, ptxas, manual };

struct Row {
  std::string_view opcode;
  std::string_view pattern;
  Rule rule;  ///< operands, and what the slots cannot say
  uint8_t sm = 0, version = 0;
  For mode = For::both;
};
std::span<const Row> grammar();

struct Match {
  const Row* row = nullptr;
  std::vector<std::pair<std::string_view, std::string_view>> values;  ///< slot, qualifier
  std::string error;     ///< why no row matches; empty when one does
  bool unknown = false;  ///< the grammar has no row for the opcode
};
Match match(std::string_view opcode, std::span<const std::string> mods, bool manual);

/// What a qualifier needs beyond its row; `opcode` empty = any.
struct QualifierGate {
  std::string_view opcode;
  std::string_view qualifier;  ///< `L1::*` = all that begin so; empty = the instruction itself
  uint8_t sm, version;
};
std::span<const QualifierGate> gates();

/// The version that brought a target, as major * 10 + minor; 0 = no such target is known.
unsigned version_of_target(unsigned sm);

/// Every mnemonic of PTX, so that a misspelt one is distinguished from one that is only not checked
/// here.
bool is_mnemonic(std::string_view opcode);

// Rules (check_*.cpp).
void access_rule(Context&);
void convert_four_rule(Context&);
void uniform_load_rule(Context&);
void atomic_rule(Context&);
void vector_atomic_rule(Context&);
void prefetch_rule(Context&);
void policy_fraction_rule(Context&);
void policy_range_rule(Context&);
void policy_convert_rule(Context&);
void line_rule(Context&);
void no_operand_rule(Context&);
void fence_tensor_rule(Context&);
void move_rule(Context&);
void to_generic_rule(Context&);
void space_test_rule(Context&);
void map_rank_rule(Context&);
void rank_rule(Context&);
void convert_rule(Context&);
void convert_pair_rule(Context&);
void convert_unpack_rule(Context&);
void convert_pack_rule(Context&);
void copy_async_rule(Context&);
void copy_wait_rule(Context&);
void stack_save_rule(Context&);
void stack_restore_rule(Context&);
void alloca_rule(Context&);

}  // namespace lanewise::ptx::legal
