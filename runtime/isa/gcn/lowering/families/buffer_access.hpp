// What the lowering functions of the buffer instructions share.
#pragma once

#include <functional>

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

struct BufferPlace {
  Reg va;
  ir::Operand may;  ///< in range and active
};

/// The address of `bytes` bytes, `element_offset` bytes into the access. Typed instructions: bytes
/// 0 stands for the element size of the descriptor's format.
BufferPlace buffer_place(LowerContext& c, const Instruction& i, unsigned element_offset,
                         unsigned bytes, bool typed = false);
/// Cache policy and alignment of the access.
ir::Mem buffer_memory(const Instruction& i, Type elem);
/// A register that holds 0, to be filled by a guarded load.
Reg zeroed(LowerContext& c);
/// The results go to VDATA, or to LDS for the flag lds; tfe's register becomes 0.
void deliver(LowerContext& c, const Instruction& i, const std::vector<Reg>& results);
void refuse_tfe_on_store(const Instruction& i);
/// LDS address of this lane: M0[15:0] + 4 * lane, and by policy the instruction's offset.
Reg lds_address(LowerContext& c, const Instruction& i);

/// One access to a part of an element: for elements of `from` to `to` bytes.
struct Part {
  Type elem;
  unsigned word, from, to;
};
/// Calls `access` for each part that an element of `size` bytes has, under the guard that it has it
/// and that it may be accessed.
void for_each_part(LowerContext& c, const ir::Operand& size, const ir::Operand& may,
                   const std::function<void(const Part&)>& access);

}  // namespace lanewise::gcn
