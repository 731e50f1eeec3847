// Scalar registers whose values are known when the kernel is translated: what s_mov and s_movk put
// there and nothing has overwritten. Buffer descriptors are often made this way.
#pragma once

#include <map>
#include <vector>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// Values by operand code.
using ScalarConstants = std::map<unsigned, uint32_t>;

/// Where the MODE register's word stands among them.
inline constexpr unsigned kModeKey = 240;
/// ... and bit 27 of it, by which registers are counted; two fields of M0, which are known where
/// the whole is not: how far, and for which operands.
inline constexpr unsigned kIndexOnKey = 241, kIndexKey = 242, kIndexedKey = 243;
inline constexpr uint32_t kIndexOnBit = 1U << 27;

/// What is known at the start of each block, whichever way it is reached.
std::vector<ScalarConstants> constants_in(const Kernel& kernel, const Analysis& analysis);
/// State after the instruction.
void step_constants(const Instruction& instruction, ScalarConstants& known);
IndexMode index_mode(const ScalarConstants& known);

}  // namespace lanewise::gcn
