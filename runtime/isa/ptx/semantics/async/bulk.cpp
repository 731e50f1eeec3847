// Bulk copies, and stores and reductions that report to a barrier. Groups are clusters of their
// own: addresses in the cluster's shared memory are the group's.
#include <functional>

#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

/// A place `at` bytes behind the operand.
ir::Operand behind(Emit& e, const Located& place, ir::Operand at) {
  const bool wide = place.base.is_reg()
                        ? e.kernel.program.regs[place.base.index].width == ir::Width::b64
                        : ir::wide_space(place.mem.space);
  return e.op(Op::add, wide ? Type::u64 : Type::u32, {place.base, wide ? e.widen(at, false) : at});
}

/// One round of a copy: `bytes` from one place to the other.
void move_part(Emit& e, const Located& from, const Located& to, ir::Operand at) {
  const bool reduces = e.has("op");
  ir::Mem source = from.mem, target = to.mem;
  source.elem = target.elem = reduces ? reduction_of(e.form).elem : Type::u32;
  source.count = target.count = reduces ? 1 : 4;
  std::vector<ir::Reg> words;
  for (unsigned i = 0; i < source.count; ++i) words.push_back(e.temp(ir::width_of(source.elem)));
  e.emit(Op::load, Type::none, words, {behind(e, from, at)}).mem = source;
  std::vector<ir::Operand> src{behind(e, to, at)};
  src.insert(src.end(), words.begin(), words.end());
  if (!reduces) {
    e.emit(Op::store, Type::none, {}, src).mem = target;
    return;
  }
  target.scope = ir::Scope::gpu;
  reduce_element(e, reduction_of(e.form), target, src[0], src[1]);
}

/// Queues a copy where copies are late, makes it where they are not or where `queue` gives a
/// predicate that is false.
void unless_late(Emit& e, const std::function<ir::Reg()>& queue,
                 const std::function<void()>& make) {
  ir::Builder& b = e.builder();
  const ir::Guard guard = e.guard();
  const ir::Reg late = waits_here(e);
  const uint32_t later = b.add_block(), now = b.add_block(), after = b.add_block();
  b.branch({late}, later, now);
  b.set_block(later);
  const ir::Reg queued = queue();
  b.set_guard({});
  if (queued.valid())
    b.branch({queued}, after, now);
  else
    b.jump(after);
  b.set_block(now);
  b.set_guard(guard);
  make();
  b.jump(after);
  b.set_block(after);
}

/// Without the mbarrier the assembler makes no instruction of it.
bool reports_nowhere(const Emit& e) {
  return e.count() < 3;
}

/// What st.async and red.async write; the mbarrier that they report to.
Located note_reporting(Emit& e, const Located& to, ir::AsyncNote how) {
  note_bytes(e, how, ir::AsyncKind::barrier, to, imm(to.mem.bytes()));
  const Located barrier = locate(e, 2, e.get("ss"));
  note_tracked(e, ir::AsyncKind::barrier, barrier);
  return barrier;
}

}  // namespace

void copy_bulk(Emit& e) {
  if (e.has("multicast::cluster"))
    e.fail("copies to several groups of a cluster are not supported");
  if (e.has("cp_mask")) e.fail("copies of some bytes of each 16 are not supported");
  const bool reports = e.has("mbarrier::complete_tx::bytes");
  const std::string_view near = e.get("to_space");
  const Located to = locate(e, 0, near), from = locate(e, 1, e.get("from_space"));
  const ir::Operand bytes = e.raw(2, kU32);
  if (bytes.is_imm() && bytes.imm % 16 != 0)
    Emit::fail(e.operand(2).loc, "the size must be a multiple of 16");
  Located target = to;
  target.mem.cache = from.mem.cache;
  const ir::AsyncKind kind = reports ? ir::AsyncKind::barrier : ir::AsyncKind::bulk;
  const bool reduces = e.has("op");
  note_bytes(e, ir::AsyncNote::read, kind, from, bytes);
  note_bytes(e, reduces ? ir::AsyncNote::reduce : ir::AsyncNote::write, kind, to, bytes);
  const Located barrier = reports ? locate(e, 3, "shared") : Located{};
  if (reports) note_tracked(e, kind, barrier);
  const auto copy = [&] {
    const uint32_t step = reduces ? ir::size_of(reduction_of(e.form).elem) : 16;
    for_offsets(e, bytes, step, [&](ir::Operand at) { move_part(e, from, target, at); });
    if (reports) report_bytes(e, barrier, bytes);
  };
  unless_late(
      e,
      [&] {
        const QueuedCopy queued{generic_address(e, from), generic_address(e, to), bytes, bytes,
                                number_of(e)};
        if (reports) return queue_reporting(e, queued, generic_address(e, barrier));
        queue_copy(e, kind, queued);
        return ir::Reg{};
      },
      copy);
}

void end_bulk_group(Emit& e) {
  end_copy_group(e, ir::AsyncKind::bulk);
  note_groups(e, ir::AsyncNote::commit, ir::AsyncKind::bulk);
}

void wait_bulk(Emit& e) {
  note_groups(e, e.has("read") ? ir::AsyncNote::wait_read : ir::AsyncNote::wait,
              ir::AsyncKind::bulk, e.operand(0).bits);
  complete_copies(e, ir::AsyncKind::bulk, e.operand(0).bits);
}

/// The first line: hints change no value.
void prefetch_bulk(Emit& e) {
  const Located from = locate(e, 0, "global");
  ir::Inst& inst = e.emit(Op::cachectl, Type::none, {}, {from.base});
  inst.mem = from.mem;
  inst.mode = static_cast<uint8_t>(ir::CacheCtl::prefetch_l2);
}

void store_async(Emit& e) {
  if (!e.has("mbarrier::complete_tx::bytes"))
    e.fail("asynchronous stores to global memory are not supported");
  if (reports_nowhere(e)) return;
  Located to = locate(e, 0, e.get("ss"));
  const PType t = e.type();
  to.mem.elem = t.bits == 64 ? Type::u64 : Type::u32;
  std::vector<ir::Operand> src{to.base};
  const Operand& value = e.operand(1);
  if (value.kind == Operand::Kind::vector)
    for (const Operand& o : value.elements) src.push_back(e.raw(o, t, Fit::wider));
  else
    src.push_back(e.raw(value, t, Fit::wider));
  to.mem.count = static_cast<uint8_t>(src.size() - 1);
  const Located barrier = note_reporting(e, to, ir::AsyncNote::write);
  unless_late(
      e, [&] { return queue_store(e, std::span(src).subspan(1), to, generic_address(e, barrier)); },
      [&] {
        e.emit(Op::store, Type::none, {}, src).mem = to.mem;
        report_bytes(e, barrier, imm(to.mem.bytes()));
      });
}

void reduce_async(Emit& e) {
  if (!e.has("mbarrier::complete_tx::bytes"))
    e.fail("asynchronous reductions of global memory are not supported");
  if (reports_nowhere(e)) return;
  Located to = locate(e, 0, e.get("ss"));
  const Reduction reduction = reduction_of(e.form);
  to.mem.elem = reduction.elem;
  to.mem.scope = ir::Scope::cta;
  const Located barrier = note_reporting(e, to, ir::AsyncNote::reduce);
  const ir::Operand value = e.raw(1, e.type(), Fit::wider);
  unless_late(
      e,
      [&] {
        return queue_store(e, {&value, 1}, to, generic_address(e, barrier));
      },
      [&] {
        reduce_element(e, reduction, to.mem, to.base, value);
        report_bytes(e, barrier, imm(to.mem.bytes()));
      });
}

}  // namespace lanewise::ptx
