// mbarrier: each operation is one atomic of the 64 bits in shared memory.
#include "runtime/ir/mbarrier.hpp"

#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;
namespace fields = ir::mbarrier;

ir::Operand field(Emit& e, ir::Operand word, uint64_t mask, unsigned at) {
  if (word.is_imm()) return imm((word.imm & mask) << at);
  const ir::Reg cut = e.op(Op::and_, Type::u32, {word, imm(mask)});
  const ir::Operand wide = e.widen(cut, false);
  return at == 0 ? wide : ir::Operand(e.op(Op::shl, Type::u64, {wide, imm(at)}));
}

ir::Operand both(Emit& e, ir::Operand a, ir::Operand b) {
  if (a.is_imm() && b.is_imm()) return imm(a.imm | b.imm);
  return e.op(Op::or_, Type::u64, {a, b});
}

ir::Order order(Emit& e, ir::Order otherwise) {
  return e.get("sem") == "relaxed" ? ir::Order::relaxed : otherwise;
}

ir::Mem state_access(Emit& e, ir::Mem mem) {
  mem.elem = Type::u64;
  mem.atom_type = Type::u64;
  mem.scope = e.has("scope") ? scope_named(e.get("scope")) : ir::Scope::cta;
  return mem;
}

}  // namespace

Located locate(Emit& e, size_t operand, std::string_view ss) {
  Located l;
  l.base = apply_address(e, e.address(e.operand(operand), ss), l.mem);
  return l;
}

ir::Operand change_barrier(Emit& e, const Located& barrier, ir::Operand change, ir::Order order) {
  ir::Mem mem = state_access(e, barrier.mem);
  mem.atom = ir::AtomOp::arrive;
  mem.order = order;
  const ir::Reg before = e.temp(ir::Width::b64);
  e.emit(Op::atom, Type::u64, {before}, {barrier.base, change}).mem = mem;
  return before;
}

void report_bytes(Emit& e, const Located& barrier, ir::Operand bytes) {
  const ir::Operand less = bytes.is_imm() ? imm(-bytes.imm & 0xffffffff)
                                          : ir::Operand(e.op(Op::sub, Type::u32, {imm(0), bytes}));
  change_barrier(e, barrier, field(e, less, fields::kBytes, fields::kBytesAt), ir::Order::release);
}

void for_offsets(Emit& e, ir::Operand total, uint32_t step,
                 const std::function<void(ir::Operand)>& body) {
  ir::Builder& b = e.builder();
  const ir::Guard guard = e.guard();
  b.set_guard({});
  if (!guard.always()) {
    const ir::Operand zero = imm(0);
    total = e.op(Op::select, Type::u32,
                 {guard.reg, guard.negate ? zero : total, guard.negate ? total : zero});
  }
  const ir::Reg at = e.temp(ir::Width::b32);
  e.emit(Op::mov, Type::u32, {at}, {imm(0)});
  const uint32_t head = b.add_block(), inside = b.add_block(), after = b.add_block();
  b.jump(head);
  b.set_block(head);
  const ir::Reg more = e.op(Op::icmp, Type::u32, {at, total}, {.cond = ir::Cond::lt});
  b.branch({more}, inside, after);
  b.set_block(inside);
  body(at);
  e.emit(Op::add, Type::u32, {at}, {at, imm(step)});
  b.jump(head);
  b.set_block(after);
  b.set_guard(guard);
}

void mbarrier_init(Emit& e) {
  const Located barrier = locate(e, 0, e.get("ss"));
  const ir::Operand count = e.raw(1, kU32);
  const ir::Operand word = both(e, field(e, count, fields::kCount, 0),
                                field(e, count, fields::kCount, fields::kExpectedAt));
  ir::Mem mem = barrier.mem;
  mem.elem = Type::u64;
  e.emit(Op::store, Type::none, {}, {barrier.base, word}).mem = mem;
}

/// Nothing may use it until it is made again.
void mbarrier_inval(Emit& e) {
  const Located barrier = locate(e, 0, e.get("ss"));
  ir::Mem mem = barrier.mem;
  mem.elem = Type::u64;
  e.emit(Op::store, Type::none, {}, {barrier.base, imm(0)}).mem = mem;
}

void mbarrier_arrive(Emit& e) {
  const Located barrier = locate(e, 1, e.get("ss"));
  const ir::Operand last = e.count() == 3 ? e.raw(2, kU32) : imm(1);
  const bool expects = e.has("expect_tx");
  const ir::Operand count = expects ? imm(1) : last;
  ir::Operand change = field(e, count, fields::kCount, 0);
  if (e.has("arrive_drop"))
    change = both(e, change, field(e, count, fields::kCount, fields::kExpectedAt));
  if (expects) change = both(e, change, field(e, last, fields::kBytes, fields::kBytesAt));
  const ir::Operand before = change_barrier(e, barrier, change, order(e, ir::Order::release));
  if (!e.is_sink(0)) e.set(0, kB64, before);
}

/// expect_tx and complete_tx.
void mbarrier_transfer(Emit& e) {
  const Located barrier = locate(e, 0, e.get("ss"));
  const ir::Operand bytes = e.raw(1, kU32);
  if (e.has("complete_tx")) return report_bytes(e, barrier, bytes);
  change_barrier(e, barrier, field(e, bytes, fields::kBytes, fields::kBytesAt), ir::Order::relaxed);
}

/// Has the phase ended: of a state, or of a parity? try_wait may answer at once.
void mbarrier_wait(Emit& e) {
  const Located barrier = locate(e, 1, e.get("ss"));
  complete_reporting(e, barrier);
  ir::Mem mem = state_access(e, barrier.mem);
  mem.order = order(e, ir::Order::acquire);
  const ir::Reg now = e.temp(ir::Width::b64);
  ir::Operand asked;
  if (e.has("parity")) {
    const ir::Operand bit = e.op(Op::and_, Type::u32, {e.raw(2, kU32), imm(1)});
    asked = e.op(Op::shl, Type::u64, {e.widen(bit, false), imm(fields::kParityAt)});
  } else {
    asked = e.raw(2, kB64);
  }
  e.emit(Op::load, Type::none, {now}, {barrier.base}).mem = mem;
  const ir::Reg differs = e.op(Op::xor_, Type::u64, {now, asked});
  const ir::Reg passed = e.op(Op::icmp, Type::s64, {differs, imm(0)}, {.cond = ir::Cond::lt});
  note_passed(e, barrier, passed);
  e.set(0, kPred, passed);
}

void mbarrier_pending(Emit& e) {
  const ir::Operand low = e.narrow(e.raw(1, kB64));
  e.set(0, kU32, e.op(Op::and_, Type::u32, {low, imm(fields::kCount)}));
}

/// cp.async.mbarrier.arrive: the copies before it are complete. Without .noinc the arrival was
/// added to those that the phase waits for, so nothing is left of it.
void mbarrier_after_copies(Emit& e) {
  const Located barrier = locate(e, 0, e.get("ss"));
  note_tracked(e, ir::AsyncKind::lane, barrier);
  end_copy_group(e, ir::AsyncKind::lane);
  complete_copies(e, ir::AsyncKind::lane, 0);
  change_barrier(e, barrier, imm(e.has("noinc") ? 1 : 0), ir::Order::release);
}

}  // namespace lanewise::ptx
