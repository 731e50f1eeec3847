// What copies that complete later read and write, and who waits for them: Op::async_note, which
// changes nothing.
#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

ir::Inst& note(Emit& e, ir::AsyncNote what, ir::AsyncKind kind, ir::Operand address,
               ir::Operand number) {
  ir::Inst& inst = e.emit(Op::async_note, Type::none, {}, {address, number});
  inst.mode = static_cast<uint8_t>(static_cast<unsigned>(what) | static_cast<unsigned>(kind) << 4);
  return inst;
}

}  // namespace

ir::Operand generic_address(Emit& e, const Located& place) {
  const bool shared = place.mem.space == ir::Space::shared;
  uint64_t offset = static_cast<uint64_t>(place.mem.offset);
  ir::Operand base = place.base;
  if (base.is_reg()) {
    const bool wide = e.kernel.program.regs[base.index].width == ir::Width::b64;
    if (shared && wide) base = e.narrow(base);
    if (shared) base = e.op(Op::add, Type::u32, {base, imm(offset & 0xffffffff)});
    if (shared || !wide) base = e.widen(base, false);
  } else if (base.is_imm() && shared) {
    base = imm((base.imm + offset) & 0xffffffff);
  }
  if (shared) offset = guest::kSharedWindow;
  if (base.is_imm()) return imm(base.imm + offset);
  return offset == 0 ? base : ir::Operand(e.op(Op::add, Type::u64, {base, imm(offset)}));
}

void note_bytes(Emit& e, ir::AsyncNote what, ir::AsyncKind kind, const Located& place,
                ir::Operand bytes) {
  note(e, what, kind, generic_address(e, place), bytes);
}

void note_groups(Emit& e, ir::AsyncNote what, ir::AsyncKind kind, uint64_t younger) {
  note(e, what, kind, imm(0), imm(younger));
}

void note_tracked(Emit& e, ir::AsyncKind kind, const Located& barrier) {
  note(e, ir::AsyncNote::track, kind, generic_address(e, barrier), imm(0));
}

void note_passed(Emit& e, const Located& barrier, ir::Reg passed) {
  const ir::Operand address = generic_address(e, barrier);
  ir::Builder& b = e.builder();
  const ir::Guard guard = e.guard();
  b.set_guard({});
  const ir::Reg seen = guarded(e, passed);
  b.set_guard({seen});
  note(e, ir::AsyncNote::passed, ir::AsyncKind::barrier, address, imm(0));
  b.set_guard(guard);
}

}  // namespace lanewise::ptx
