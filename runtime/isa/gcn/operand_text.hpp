// One operand between text and code.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

Operand read_operand(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen);
std::string write_operand(const Operand& operand, const SlotSpec& spec);
/// `s[4:7]`, `v1`, `vcc`: `count` registers from a code on.
std::string register_name(unsigned code, unsigned count);

}  // namespace lanewise::gcn
