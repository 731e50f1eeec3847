// alloca, stacksave, stackrestore: a part of local memory whose taken bytes grow upwards.
#include <bit>

#include "lanewise/types.hpp"
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

constexpr uint64_t kMostAlign = 1U << 15;

/// The alignment asked for, 8 where none is.
uint64_t alloca_align(Emit& e) {
  if (e.count() < 3) return 8;
  const uint64_t align = e.is_constant(2) ? e.operand(2).bits : 0;
  if (!std::has_single_bit(align) || align > kMostAlign)
    Emit::fail(e.operand(2).loc, "expected an alignment of 1, 2, 4 ... " +
                                     std::to_string(kMostAlign) + ", a constant");
  return align;
}

ir::Operand as_address(Emit& e, ir::Operand offset, PType t) {
  return t.bits == 64 ? e.widen(offset, false) : offset;
}

/// More than there is ends the lane as a call does that finds the stack full.
void alloca_bytes(Emit& e) {
  const PType t = e.type();
  const uint64_t align = alloca_align(e);
  const uint32_t area = e.kernel.alloca_area();
  const ir::Reg top = e.kernel.alloca_top();
  ++e.kernel.allocas;
  // What leads to the trap is computed whatever the guard says: nothing of it is left over from
  // an earlier iteration.
  const ir::Guard guard = e.guard();
  e.builder().set_guard({});
  const ir::Operand size = e.raw(1, t);
  const ir::Operand bytes = t.bits == 64 ? e.narrow(size) : size;
  const uint64_t low = ~(align - 1) & 0xffffffff;
  const ir::Reg raised = e.op(Op::add, Type::u32, {top, imm(align - 1)});
  const ir::Reg begin = e.op(Op::and_, Type::u32, {raised, imm(low)});
  const ir::Reg capacity = e.op(Op::sub, Type::u32, {imm(KernelContext::kAllocaBytes), begin});
  ir::Operand full =
      e.op(Op::icmp, t.ir(), {size, as_address(e, capacity, t)}, {.cond = ir::Cond::gt});
  const ir::Reg past =
      e.op(Op::icmp, Type::u32, {begin, imm(KernelContext::kAllocaBytes)}, {.cond = ir::Cond::gt});
  full = e.op(Op::or_, Type::pred, {full, past});
  full = guarded(e, full);
  ir::Inst& trap = e.emit(Op::trap, Type::none, {}, {});
  trap.mode = static_cast<uint8_t>(FaultKind::stack_overflow);
  trap.guard = {full.reg(), false};
  e.builder().set_guard(guard);
  e.emit(Op::add, Type::u32, {top}, {begin, bytes});
  const ir::Reg address = e.op(Op::add, Type::u32, {begin, imm(area)});
  e.set(0, t, as_address(e, address, t));
}

void stack_save(Emit& e) {
  const PType t = e.type();
  const uint32_t area = e.kernel.alloca_area();
  const ir::Reg place = e.op(Op::add, Type::u32, {e.kernel.alloca_top(), imm(area)});
  e.set(0, t, as_address(e, place, t));
}

void stack_restore(Emit& e) {
  const PType t = e.type();
  const ir::Operand saved = e.raw(0, t);
  const ir::Operand place = t.bits == 64 ? e.narrow(saved) : saved;
  const uint32_t area = e.kernel.alloca_area();
  e.emit(Op::sub, Type::u32, {e.kernel.alloca_top()}, {place, imm(area)});
}

void alloca_rule(legal::Context& c) {
  if (c.in.operands.size() != 3 || c.in.operands[2].kind != Operand::Kind::integer) return;
  const Operand& align = c.in.operands[2];
  if (!std::has_single_bit(align.bits))
    c.error(align,
            "an alignment of " + std::to_string(align.bits) + ", a power of two was expected");
}

constexpr Row kStackRows[] = {
    {"alloca@52.73", "type:u32|u64", judged("d s ?i", alloca_rule), alloca_bytes},
    {"stacksave@52.73", "type:u32|u64", "d", stack_save},
    {"stackrestore@52.73", "type:u32|u64", "r", stack_restore},
};

}  // namespace

constinit Rows stack_rows = kStackRows;

}  // namespace lanewise::ptx
