// The index mode of GCN3. While it is on, vector instructions take the registers of some operands
// so many further than the instruction names: M0[7:0] says how many, M0[15:12] which operands.
// Memory instructions take theirs as they are named.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace lanewise::gcn {

struct Analysis;
struct Instruction;
struct Kernel;
class LowerContext;

/// In front of an instruction.
struct IndexMode {
  bool on = false;               ///< or may be
  bool known = true;             ///< whether it is on, whichever way leads here
  std::optional<uint32_t> what;  ///< M0[15:12]: bits for sources 0, 1 and 2 and the result
  std::optional<uint32_t> index;
};

inline constexpr const char* kIndexModeDepends =
    "whether the index mode of registers (s_set_gpr_idx_on) is on depends on the path that led "
    "here";

/// The vector instructions with registers that may be counted.
std::map<size_t, IndexMode> indexed(const Kernel& kernel, const Analysis& analysis);

/// The bit of M0[15:12] that applies to the instruction's operand, as a number; none of scalar
/// operands and constants.
std::optional<unsigned> index_bit(const Instruction& instruction, size_t operand);

/// Does what `plain` does with the instruction whose registers are those that are meant.
void lower_indexed(LowerContext& context, const Instruction& instruction, const IndexMode& mode,
                   const std::function<void(const Instruction&)>& plain);

}  // namespace lanewise::gcn
