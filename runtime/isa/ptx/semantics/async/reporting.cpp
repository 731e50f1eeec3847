// Bulk copies, stores and reductions that report to an mbarrier, as late as allowed (policy
// async.copy): they lie behind the group's shared memory, which begins as zeros, and whoever asks
// for their mbarrier makes them.
#include "runtime/isa/ptx/late_copies.hpp"
#include "runtime/isa/ptx/semantics/async/async.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

// An entry: its state, bytes, three generic addresses, where the source is none what is stored, and
// which reduction it is.
enum EntryField : int64_t {
  kEntryState = 0,
  kEntryBytes = 4,
  kEntrySource = 8,
  kEntryTarget = 16,
  kEntryBarrier = 24,
  kEntryValue = 32,
  kEntryReduction = kEntryValue + kReportingValueBytes
};
constexpr uint64_t kNoSource = 0;  ///< null, which nothing can be read from
/// Taken: while a lane writes the entry, or makes the copy.
enum EntryState : uint64_t { kFree = 0, kTaken = 1, kReady = 2 };

ir::Mem shared(Type elem, EntryField field) {
  ir::Mem mem;
  mem.space = ir::Space::shared;
  mem.elem = elem;
  mem.offset = field;
  return mem;
}

ir::Mem state(ir::Order order) {
  ir::Mem mem = shared(Type::u32, kEntryState);
  mem.order = order;
  mem.scope = ir::Scope::cta;
  return mem;
}

/// Takes an entry of that state; what it was before.
ir::Reg take(Emit& e, ir::Reg entry, EntryState from) {
  ir::Mem mem = state(ir::Order::acquire);
  mem.atom = ir::AtomOp::cas;
  const ir::Reg before = e.temp(ir::Width::b32);
  e.emit(Op::atom, Type::u32, {before}, {entry, imm(from), imm(kTaken)}).mem = mem;
  return before;
}

ir::Reg is(Emit& e, Type type, ir::Operand a, ir::Operand b) {
  return e.op(Op::icmp, type, {a, b}, {.cond = ir::Cond::eq});
}

/// The first entry, and the end of them: nothing where copies complete at once.
ir::Reg first_entry(Emit& e) {
  const ir::Reg entry = e.temp(ir::Width::b32);
  const ir::Operand reserved = imm(e.kernel.program.reserved_shared);
  e.emit(Op::add, Type::u32, {entry}, {behind_shared(e), reserved});
  return entry;
}
ir::Operand end_of_entries(Emit& e, ir::Reg first) {
  const ir::Reg count = e.builder().open(ir::Choice::reporting_entries, Type::u32, 0);
  return e.op(Op::add, Type::u32, {first, e.op(Op::mul, Type::u32, {count, imm(kReportingBytes)})});
}

/// The value that an entry holds, by one store of its size, whose alignment it needs.
void store_value(Emit& e, ir::Reg entry, ir::Reg target, ir::Reg bytes) {
  std::vector<ir::Reg> words;
  for (unsigned i = 0; i < kReportingValueBytes / 4; ++i) words.push_back(e.temp(ir::Width::b32));
  ir::Mem value = shared(Type::u32, kEntryValue);
  value.count = static_cast<uint8_t>(words.size());
  e.emit(Op::load, Type::none, words, {entry}).mem = value;
  for (const uint8_t count : {1, 2, 4}) {
    ir::Mem mem;
    mem.space = ir::Space::generic;
    mem.count = count;
    std::vector<ir::Operand> src{target};
    src.insert(src.end(), words.begin(), words.begin() + count);
    const ir::Reg fits = is(e, Type::u32, bytes, imm(uint64_t{count} * 4));
    ir::Inst& store = e.emit(Op::store, Type::none, {}, src);
    store.mem = mem;
    store.guard = {fits};
  }
}

/// Queues what `hold` writes into the entry; false in lanes in which all entries are taken.
ir::Reg queue_entry(Emit& e, const std::function<void(ir::Reg)>& hold, ir::Operand target,
                    ir::Operand bytes, ir::Operand barrier) {
  const ir::Operand number = number_of(e);
  ir::Builder& b = e.builder();
  const ir::Reg queued = e.temp(ir::Width::pred);
  e.emit(Op::mov, Type::pred, {queued}, {imm(0)});
  const ir::Reg entry = first_entry(e);
  const ir::Operand end = end_of_entries(e, entry);
  const uint32_t head = b.add_block(), look = b.add_block(), fill = b.add_block(),
                 next = b.add_block(), after = b.add_block();
  b.jump(head);
  b.set_block(head);
  b.branch({e.op(Op::icmp, Type::u32, {entry, end}, {.cond = ir::Cond::lt})}, look, after);
  b.set_block(look);
  b.branch({is(e, Type::u32, take(e, entry, kFree), imm(kFree))}, fill, next);
  b.set_block(next);
  e.emit(Op::add, Type::u32, {entry}, {entry, imm(kReportingBytes)});
  b.jump(head);
  b.set_block(fill);
  e.emit(Op::store, Type::none, {}, {entry, bytes}).mem = shared(Type::u32, kEntryBytes);
  hold(entry);
  if (reduces_late(e))
    e.emit(Op::store, Type::none, {}, {entry, number}).mem = shared(Type::u32, kEntryReduction);
  e.emit(Op::store, Type::none, {}, {entry, target}).mem = shared(Type::u64, kEntryTarget);
  e.emit(Op::store, Type::none, {}, {entry, barrier}).mem = shared(Type::u64, kEntryBarrier);
  e.emit(Op::store, Type::none, {}, {entry, imm(kReady)}).mem = state(ir::Order::release);
  e.emit(Op::mov, Type::pred, {queued}, {imm(1)});
  b.jump(after);
  b.set_block(after);
  return queued;
}

}  // namespace

ir::Reg queue_reporting(Emit& e, const QueuedCopy& copy, ir::Operand barrier) {
  const auto hold = [&](ir::Reg entry) {
    e.emit(Op::store, Type::none, {}, {entry, copy.source}).mem = shared(Type::u64, kEntrySource);
  };
  return queue_entry(e, hold, copy.target, copy.bytes, barrier);
}

ir::Reg queue_store(Emit& e, std::span<const ir::Operand> values, const Located& to,
                    ir::Operand barrier) {
  const auto hold = [&](ir::Reg entry) {
    e.emit(Op::store, Type::none, {}, {entry, imm(kNoSource)}).mem =
        shared(Type::u64, kEntrySource);
    ir::Mem held = shared(to.mem.elem, kEntryValue);
    held.count = to.mem.count;
    std::vector<ir::Operand> src{entry};
    src.insert(src.end(), values.begin(), values.end());
    e.emit(Op::store, Type::none, {}, src).mem = held;
  };
  return queue_entry(e, hold, generic_address(e, to), imm(to.mem.bytes()), barrier);
}

void complete_reporting(Emit& e, const Located& barrier) {
  ir::Builder& b = e.builder();
  const ir::Guard guard = e.guard();
  const ir::Reg late = waits_here(e);
  const uint32_t begin = b.add_block(), head = b.add_block(), look = b.add_block(),
                 ready = b.add_block(), claim = b.add_block(), made = b.add_block(),
                 copy = b.add_block(), store = b.add_block(), done = b.add_block(),
                 next = b.add_block(), after = b.add_block();
  b.branch({late}, begin, after);
  b.set_block(begin);
  const ir::Reg entry = first_entry(e);
  const ir::Operand end = end_of_entries(e, entry);
  const ir::Operand asked = generic_address(e, barrier);
  b.jump(head);
  b.set_block(head);
  b.branch({e.op(Op::icmp, Type::u32, {entry, end}, {.cond = ir::Cond::lt})}, look, after);
  b.set_block(look);
  const ir::Reg now = e.temp(ir::Width::b32);
  e.emit(Op::load, Type::none, {now}, {entry}).mem = state(ir::Order::acquire);
  b.branch({is(e, Type::u32, now, imm(kReady))}, ready, next);
  b.set_block(ready);
  const ir::Reg reports_to = e.temp(ir::Width::b64);
  e.emit(Op::load, Type::none, {reports_to}, {entry}).mem = shared(Type::u64, kEntryBarrier);
  b.branch({is(e, Type::u64, reports_to, asked)}, claim, next);
  b.set_block(claim);
  b.branch({is(e, Type::u32, take(e, entry, kReady), imm(kReady))}, made, next);
  b.set_block(made);
  const ir::Reg bytes = e.temp(ir::Width::b32), source = e.temp(ir::Width::b64),
                target = e.temp(ir::Width::b64);
  e.emit(Op::load, Type::none, {bytes}, {entry}).mem = shared(Type::u32, kEntryBytes);
  e.emit(Op::load, Type::none, {source}, {entry}).mem = shared(Type::u64, kEntrySource);
  e.emit(Op::load, Type::none, {target}, {entry}).mem = shared(Type::u64, kEntryTarget);
  if (reduces_late(e)) {
    const ir::Reg number = e.temp(ir::Width::b32);
    e.emit(Op::load, Type::none, {number}, {entry}).mem = shared(Type::u32, kEntryReduction);
    const uint32_t plain = b.add_block(), reduce = b.add_block();
    b.branch({is(e, Type::u32, number, imm(0))}, plain, reduce);
    b.set_block(reduce);
    const ir::Operand held = generic_address(e, {entry, shared(Type::u32, kEntryValue)});
    const ir::Reg none = is(e, Type::u64, source, imm(kNoSource));
    const ir::Reg from = e.op(Op::select, Type::u64, {none, held, source});
    reduce_bytes(e, number, {from, target, bytes, bytes}, ir::Space::generic);
    b.jump(done);
    b.set_block(plain);
  }
  b.branch({is(e, Type::u64, source, imm(kNoSource))}, store, copy);
  b.set_block(copy);
  copy_bytes(e, source, target, bytes);
  b.set_guard({});
  b.jump(done);
  b.set_block(store);
  store_value(e, entry, target, bytes);
  b.jump(done);
  b.set_block(done);
  e.emit(Op::store, Type::none, {}, {entry, imm(kFree)}).mem = state(ir::Order::release);
  report_bytes(e, barrier, bytes);
  b.jump(next);
  b.set_block(next);
  e.emit(Op::add, Type::u32, {entry}, {entry, imm(kReportingBytes)});
  b.jump(head);
  b.set_block(after);
  b.set_guard(guard);
}

}  // namespace lanewise::ptx
