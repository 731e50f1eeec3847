// Names of hardware registers, messages and counters in scalar instructions.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// `hwreg(HW_REG_MODE, 4, 2)` or 16 bits as a number.
Operand read_hwreg(Cursor& in);
std::string write_hwreg(const Operand& operand);
/// `sendmsg(MSG_GS, GS_OP_CUT, 1)` or 16 bits as a number.
Operand read_message(Cursor& in, Gen gen);
std::string write_message(const Operand& operand, Gen gen);
/// `vmcnt(0) & lgkmcnt(2)` or 16 bits as a number.
Operand read_waitcnt(Cursor& in);
std::string write_waitcnt(uint32_t value);
/// `gpr_idx(SRC0,DST)` or 4 bits as a number.
Operand read_gpr_idx(Cursor& in);
std::string write_gpr_idx(const Operand& operand);

}  // namespace lanewise::gcn
