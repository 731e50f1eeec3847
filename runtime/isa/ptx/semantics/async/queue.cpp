// Copies as late as allowed (policy async.copy): each lane keeps those that it started in a queue
// in local memory, and a wait carries out what it waits for. Where copies complete at once the
// constant `async.late` is false, and nothing of this is left of a translated kernel.
#include "runtime/isa/ptx/semantics/async/async.hpp"

#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/isa/ptx/late_copies.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

// An entry: source (8 bytes), destination, bytes and those that are read, group.
enum Field : int64_t { kSource = 0, kTarget = 8, kBytes = 12, kRead = 16, kGroup = 20 };

/// A register of the lane, found by its name: it starts as 0.
ir::Reg kept(Emit& e, std::string_view name) {
  std::vector<ir::RegInfo>& regs = e.kernel.program.regs;
  const auto at = std::ranges::find(regs, name, &ir::RegInfo::name);
  if (at != regs.end()) return ir::Reg{static_cast<uint32_t>(at - regs.begin())};
  return e.kernel.program.add_reg(ir::Width::b32, std::string(name));
}
constexpr std::string_view kHead = "async.head", kTail = "async.tail", kOpen = "async.group";

ir::Operand sum(Emit& e, ir::Operand a, ir::Operand b) {
  return e.op(Op::add, Type::u32, {a, b});
}

/// The entry with this number.
ir::Operand entry(Emit& e, ir::Reg number) {
  const ir::Reg area = e.kernel.program.add_reg(ir::Width::b32, std::string(kCopyArea));
  e.emit(Op::mov, Type::u32, {area}, {imm(0)});
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

ir::Reg guarded(Emit& e, ir::Operand condition) {
  const ir::Guard guard = e.guard();
  if (guard.always()) return condition.reg();
  ir::Operand own = guard.reg;
  if (guard.negate) own = e.op(Op::not_, Type::pred, {own});
  return e.op(Op::and_, Type::pred, {condition, own});
}

/// Byte by byte; what is not read is 0.
void copy_entry(Emit& e, ir::Operand entry) {
  const ir::Operand source = read(e, entry, Type::u64, kSource),
                    target = read(e, entry, Type::u32, kTarget),
                    size = read(e, entry, Type::u32, kRead);
  for_offsets(e, read(e, entry, Type::u32, kBytes), 1, [&](ir::Operand at) {
    const ir::Reg value = e.temp(ir::Width::b32);
    e.emit(Op::mov, Type::u32, {value}, {imm(0)});
    const ir::Reg reads = e.op(Op::icmp, Type::u32, {at, size}, {.cond = ir::Cond::lt});
    const ir::Reg from = e.op(Op::add, Type::u64, {source, e.widen(at, false)});
    ir::Mem mem;
    mem.elem = Type::u8;
    ir::Inst& load = e.emit(Op::load, Type::none, {value}, {from});
    load.mem = mem;
    load.guard = {reads};
    mem.space = ir::Space::shared;
    e.emit(Op::store, Type::none, {}, {sum(e, target, at), value}).mem = mem;
  });
}

}  // namespace

ir::Reg copies_wait(Emit& e) {
  const ir::Guard guard = e.guard();
  e.builder().set_guard({});
  const ir::Reg late = e.kernel.program.add_reg(ir::Width::pred, std::string(kCopyLate));
  e.emit(Op::mov, Type::pred, {late}, {imm(0)});
  e.builder().set_guard(guard);
  return late;
}

void queue_copy(Emit& e, const QueuedCopy& copy) {
  const ir::Reg head = kept(e, kHead), tail = kept(e, kTail), open = kept(e, kOpen);
  const ir::Guard guard = e.guard();
  e.builder().set_guard({});
  const ir::Reg held = e.op(Op::sub, Type::u32, {tail, head});
  const ir::Reg many = e.op(Op::icmp, Type::u32, {held, imm(kCopyEntries)}, {.cond = ir::Cond::ge});
  const ir::Reg full = guarded(e, many);
  ir::Inst& trap = e.emit(Op::trap, Type::none, {}, {});
  trap.mode = static_cast<uint8_t>(FaultKind::stack_overflow);
  trap.guard = {full};
  const ir::Operand at = entry(e, tail);
  e.builder().set_guard(guard);
  write(e, at, Type::u64, kSource, copy.source);
  write(e, at, Type::u32, kTarget, copy.target);
  write(e, at, Type::u32, kBytes, imm(copy.bytes));
  write(e, at, Type::u32, kRead, copy.read);
  write(e, at, Type::u32, kGroup, open);
  e.emit(Op::add, Type::u32, {tail}, {tail, imm(1)});
}

void end_copy_group(Emit& e) {
  const ir::Reg open = kept(e, kOpen);
  e.emit(Op::add, Type::u32, {open}, {open, imm(1)});
}

void complete_copies(Emit& e, uint64_t younger) {
  const ir::Reg head = kept(e, kHead), tail = kept(e, kTail), open = kept(e, kOpen);
  ir::Builder& b = e.builder();
  const ir::Guard guard = e.guard();
  const ir::Reg waits_here = copies_wait(e);
  b.set_guard({});
  const ir::Reg late = guarded(e, waits_here);
  const uint32_t check = b.add_block(), look = b.add_block(), copy = b.add_block(),
                 after = b.add_block();
  b.branch({late}, check, after);
  b.set_block(check);
  const ir::Reg any = e.op(Op::icmp, Type::u32, {head, tail}, {.cond = ir::Cond::ne});
  b.branch({any}, look, after);
  b.set_block(look);
  const ir::Operand at = entry(e, head);
  // Groups that are complete: the wait leaves `younger` of those that were ended.
  const ir::Operand last = sum(e, read(e, at, Type::u32, kGroup), imm(younger));
  const ir::Reg waits = e.op(Op::icmp, Type::u32, {last, open}, {.cond = ir::Cond::lt});
  b.branch({waits}, copy, after);
  b.set_block(copy);
  copy_entry(e, at);
  b.set_guard({});
  e.emit(Op::add, Type::u32, {head}, {head, imm(1)});
  b.jump(check);
  b.set_block(after);
  b.set_guard(guard);
}

}  // namespace lanewise::ptx
