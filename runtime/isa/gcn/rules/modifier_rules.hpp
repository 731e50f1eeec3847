// What modifiers and registers of an instruction go together.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// Why the instruction cannot have these; empty when it can.
std::string modifier_problem(const Instruction& instruction, Gen gen);
std::string buffer_problem(const Instruction& instruction, Gen gen);
/// Semaphores, which access no element of memory.
bool is_of_global_share(const Row& row);
/// Registers that the data of an image takes by the instruction's dmask.
unsigned data_registers(const Instruction& instruction);

}  // namespace lanewise::gcn
