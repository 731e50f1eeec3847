// Whether lanes read what a move puts into a vector register, also behind private memory.
#pragma once

#include "runtime/isa/gcn/lowering/analysis/private_memory.hpp"

namespace lanewise::gcn {

/// True when nothing depends on the value that `n`, a plain v_mov_b32, leaves in the lanes that are
/// on: each of them overwrites it, and its copies in registers and private memory, or is off
/// wherever they are read. Compilers leave such values where of two branches each lane takes one,
/// and what comes from the other has no value.
bool value_is_unread(const Kernel& kernel, const Analysis& analysis, const PrivateMemory& memory,
                     size_t n, size_t& steps);

/// v_mov_b32 of whole registers.
bool is_plain_move(const Instruction& instruction);

}  // namespace lanewise::gcn
