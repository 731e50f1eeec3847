// One row of the assembler's tables as a kernel of its own: registers and addresses are data, so
// that rows which mean the same to a device are the same code, and whatever the row did can be read
// back. Parses the row itself, as the expectations must not come from the parser under test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::test {

/// One instruction of the tables and the module it is legal in.
struct PtxRow {
  std::string text;
  std::string target = "sm_100", version = "9.0";
};

/// A line taken apart: `@!%p1 st.global.u32 [%rd1+4], %r1;`
struct RowText {
  std::string guard;  ///< "%p1", empty = none
  bool guard_negated = false;
  std::string opcode;
  std::vector<std::string> qualifiers;  ///< what follows the opcode between dots; "L2::evict_last"
  std::vector<std::string> operands;    ///< split at commas outside brackets and braces

  bool has(std::string_view qualifier) const;
  /// The state space, "" = generic: `.shared::cta` counts as shared, `.param::func` as param.
  std::string space() const;
};
RowText parse_row(const std::string& line);
/// `{%r1, _, %r2}` or `%r1` as a list; `%vec4` as its four parts.
std::vector<std::string> elements_of(const std::string& operand);
/// Bits of a register of the tables' module (`%rd1` 64, `%p1` 1), 0 for what is none.
unsigned register_bits(const std::string& reg);

using Words = std::array<uint32_t, 4>;

inline constexpr uint32_t kSpaceBytes = 1024;  ///< gbuf, cbuf, sbuf and lbuf, as in the tables
inline constexpr uint32_t kRowResultBytes = 64;
/// The output: the registers that the row writes, then sbuf, then lbuf.
inline constexpr uint32_t kRowOutputBytes = kRowResultBytes + 2 * kSpaceBytes;

/// Where the module's variables lie and what the kernel's parameters hold.
struct RowPlace {
  uint64_t gbuf, gvar, cbuf, output;
};

/// A row with the values that its kernel starts from.
struct RowKernel {
  PtxRow row;
  RowText parts;
  std::vector<std::string> registers;     ///< of the row, in the order of their first mention
  std::vector<std::string> destinations;  ///< those that it writes, as in the output
  std::vector<std::byte> params;          ///< kp0 and kparr
  std::string text;                       ///< the module
  bool shared = false, local = false;     ///< sbuf, lbuf are filled and dumped

  /// What the kernel gives the register before the row; nothing for what is no register.
  std::optional<Words> initial(const std::string& reg) const;
};
/// `number` chooses the data.
RowKernel row_kernel(const PtxRow& row, uint32_t number, const RowPlace& place);

struct LoweredRow {
  ir::Program program;
  std::string refused;  ///< why there is no program
};
LoweredRow lower_row(const RowKernel& kernel, const RowPlace& place);

}  // namespace lanewise::test
