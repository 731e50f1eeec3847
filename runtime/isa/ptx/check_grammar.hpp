// What the rows of the memory family and of conversions need besides their patterns: gates of
// single qualifiers, and the rules that judge their operands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx::legal {

/// What a qualifier needs beyond its row; `opcode` empty = any.
struct QualifierGate {
  std::string_view opcode;
  std::string_view qualifier;  ///< `L1::*` = all that begin so; empty = the instruction itself
  uint8_t sm, version;
};
std::span<const QualifierGate> gates();

/// The version that brought a target, as major * 10 + minor; 0 = no such target is known.
unsigned version_of_target(unsigned sm);

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
