// Copies as late as allowed (policy async.copy): each lane keeps those that it started in queues in
// local memory, and a wait carries out what it waits for. Where copies complete at once the
// constant `copies_late` is false, and nothing of this is left of a translated kernel.
#include "runtime/isa/ptx/semantics/async/async.hpp"

#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/isa/ptx/late_copies.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

// An entry: source and destination (8 bytes each, generic), bytes and those that are read, group,
// and of a bulk copy which reduction it is.
enum Field : int64_t {
  kSource = 0,
  kTarget = 8,
  kBytes = 16,
  kRead = 20,
  kGroup = 24,
  kReduction = 28
};

/// Registers of the lane, found by their names: they start as 0.
struct Queue {
  ir::Choice area;
  ir::Reg head, tail, open;
};

ir::Reg kept(Emit& e, const std::string& name) {
  std::vector<ir::RegInfo>& regs = e.kernel.program.regs;
  const auto at = std::ranges::find(regs, name, &ir::RegInfo::name);
  if (at != regs.end()) return ir::Reg{static_cast<uint32_t>(at - regs.begin())};
  return e.kernel.program.add_reg(ir::Width::b32, name);
}

Queue queue_of(Emit& e, ir::AsyncKind kind) {
  const auto area = kind == ir::AsyncKind::bulk ? ir::Choice::bulk_area : ir::Choice::copy_area;
  const std::string prefix(name(area));
  return {area, kept(e, prefix + ".head"), kept(e, prefix + ".tail"), kept(e, prefix + ".group")};
}

ir::Operand sum(Emit& e, ir::Operand a, ir::Operand b) {
  return e.op(Op::add, Type::u32, {a, b});
}

/// The entry with this number.
ir::Operand entry(Emit& e, const Queue& queue, ir::Reg number) {
  const ir::Reg area = e.builder().open(queue.area, Type::u32, 0);
  const ir::Reg slot = e.op(Op::and_, Type::u32, {number, imm(kCopyEntries - 1)});
  return sum(e, area, e.op(Op::mul, Type::u32, {slot, imm(kCopyEntryBytes)}));
}

ir::Mem local(Type elem, Field field) {
  ir::Mem mem;
  mem.space = ir::Space::local;
  mem.elem = elem;
  mem.offset = field;
  return mem;
}
ir::Operand read(Emit& e, ir::Operand entry, Type elem, Field field) {
  const ir::Reg value = e.temp(ir::width_of(elem));
  e.emit(Op::load, Type::none, {value}, {entry}).mem = local(elem, field);
  return value;
}
void write(Emit& e, ir::Operand entry, Type elem, Field field, ir::Operand value) {
  e.emit(Op::store, Type::none, {}, {entry, value}).mem = local(elem, field);
}

void make_bulk(Emit& e, ir::Operand entry, const QueuedCopy& copy) {
  if (!reduces_late(e)) return copy_bytes(e, copy.source, copy.target, copy.bytes);
  const ir::Operand number = read(e, entry, Type::u32, kReduction);
  const ir::Reg copies = e.op(Op::icmp, Type::u32, {number, imm(0)}, {.cond = ir::Cond::eq});
  const ir::Reg bytes = e.op(Op::select, Type::u32, {copies, copy.bytes, imm(0)});
  copy_bytes(e, copy.source, copy.target, bytes);
  reduce_bytes(e, number, copy, ir::Space::global);
}

/// Byte by byte; what is not read is 0. Bulk copies are of 16 bytes each, all of them read.
void copy_entry(Emit& e, ir::AsyncKind kind, ir::Operand entry) {
  const ir::Operand source = read(e, entry, Type::u64, kSource),
                    target = read(e, entry, Type::u64, kTarget),
                    bytes = read(e, entry, Type::u32, kBytes);
  if (kind == ir::AsyncKind::bulk) return make_bulk(e, entry, {source, target, bytes, bytes});
  const ir::Operand size = read(e, entry, Type::u32, kRead);
  for_offsets(e, bytes, 1, [&](ir::Operand at) {
    const ir::Reg value = e.temp(ir::Width::b32);
    e.emit(Op::mov, Type::u32, {value}, {imm(0)});
    const ir::Reg reads = e.op(Op::icmp, Type::u32, {at, size}, {.cond = ir::Cond::lt});
    const ir::Operand offset = e.widen(at, false);
    const ir::Reg from = e.op(Op::add, Type::u64, {source, offset});
    ir::Mem mem;
    mem.space = ir::Space::generic;
    mem.elem = Type::u8;
    ir::Inst& load = e.emit(Op::load, Type::none, {value}, {from});
    load.mem = mem;
    load.guard = {reads};
    const ir::Reg to = e.op(Op::add, Type::u64, {target, offset});
    e.emit(Op::store, Type::none, {}, {to, value}).mem = mem;
  });
}

}  // namespace

ir::Reg copies_wait(Emit& e) {
  const ir::Guard guard = e.guard();
  e.builder().set_guard({});
  const ir::Reg late = e.builder().open(ir::Choice::copies_late, Type::pred, 0);
  e.builder().set_guard(guard);
  return late;
}

ir::Reg waits_here(Emit& e) {
  const ir::Reg late = copies_wait(e);
  e.builder().set_guard({});
  return guarded(e, late);
}

void copy_bytes(Emit& e, ir::Operand source, ir::Operand target, ir::Operand bytes) {
  for_offsets(e, bytes, 16, [&](ir::Operand at) {
    ir::Mem mem;
    mem.space = ir::Space::generic;
    mem.count = 4;
    const ir::Operand offset = e.widen(at, false);
    std::vector<ir::Reg> words;
    for (unsigned i = 0; i < mem.count; ++i) words.push_back(e.temp(ir::Width::b32));
    e.emit(Op::load, Type::none, words, {e.op(Op::add, Type::u64, {source, offset})}).mem = mem;
    std::vector<ir::Operand> src{e.op(Op::add, Type::u64, {target, offset})};
    src.insert(src.end(), words.begin(), words.end());
    e.emit(Op::store, Type::none, {}, src).mem = mem;
  });
}

void queue_copy(Emit& e, ir::AsyncKind kind, const QueuedCopy& copy) {
  const Queue queue = queue_of(e, kind);
  const ir::Guard guard = e.guard();
  e.builder().set_guard({});
  const ir::Reg held = e.op(Op::sub, Type::u32, {queue.tail, queue.head});
  const ir::Reg many = e.op(Op::icmp, Type::u32, {held, imm(kCopyEntries)}, {.cond = ir::Cond::ge});
  const ir::Reg full = guarded(e, many);
  ir::Inst& trap = e.emit(Op::trap, Type::none, {}, {});
  trap.mode = static_cast<uint8_t>(FaultKind::stack_overflow);
  trap.guard = {full};
  const ir::Operand at = entry(e, queue, queue.tail);
  e.builder().set_guard(guard);
  write(e, at, Type::u64, kSource, copy.source);
  write(e, at, Type::u64, kTarget, copy.target);
  write(e, at, Type::u32, kBytes, copy.bytes);
  write(e, at, Type::u32, kRead, copy.read);
  write(e, at, Type::u32, kGroup, queue.open);
  if (kind == ir::AsyncKind::bulk && reduces_late(e))
    write(e, at, Type::u32, kReduction, copy.reduction);
  e.emit(Op::add, Type::u32, {queue.tail}, {queue.tail, imm(1)});
}

void end_copy_group(Emit& e, ir::AsyncKind kind) {
  const Queue queue = queue_of(e, kind);
  e.emit(Op::add, Type::u32, {queue.open}, {queue.open, imm(1)});
}

void complete_copies(Emit& e, ir::AsyncKind kind, uint64_t younger) {
  const Queue queue = queue_of(e, kind);
  ir::Builder& b = e.builder();
  const ir::Guard guard = e.guard();
  const ir::Reg late = waits_here(e);
  const uint32_t check = b.add_block(), look = b.add_block(), copy = b.add_block(),
                 after = b.add_block();
  b.branch({late}, check, after);
  b.set_block(check);
  const ir::Reg any = e.op(Op::icmp, Type::u32, {queue.head, queue.tail}, {.cond = ir::Cond::ne});
  b.branch({any}, look, after);
  b.set_block(look);
  const ir::Operand at = entry(e, queue, queue.head);
  // Groups that are complete: the wait leaves `younger` of those that were ended.
  const ir::Operand last = sum(e, read(e, at, Type::u32, kGroup), imm(younger));
  const ir::Reg waits = e.op(Op::icmp, Type::u32, {last, queue.open}, {.cond = ir::Cond::lt});
  b.branch({waits}, copy, after);
  b.set_block(copy);
  copy_entry(e, kind, at);
  b.set_guard({});
  e.emit(Op::add, Type::u32, {queue.head}, {queue.head, imm(1)});
  b.jump(check);
  b.set_block(after);
  b.set_guard(guard);
}

}  // namespace lanewise::ptx
