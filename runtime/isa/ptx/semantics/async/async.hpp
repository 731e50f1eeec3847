// Barriers in memory, and copies that report to them. Copies complete at once, which every program
// must expect; what a program observes of them is bytes in place and changed barriers.
#pragma once

#include <functional>
#include <span>

#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

/// An address operand in the space `ss` (generic without one); the offset is in the Mem.
struct Located {
  ir::Operand base;
  ir::Mem mem;
};
Located locate(Emit& e, size_t operand, std::string_view ss);

/// Changes the state of the barrier by `change` (ir/mbarrier.hpp); what it was before.
ir::Operand change_barrier(Emit& e, const Located& barrier, ir::Operand change, ir::Order order);
/// That many bytes have come: a word.
void report_bytes(Emit& e, const Located& barrier, ir::Operand bytes);

/// Runs `body` with 0, step ... below `total` (a word), in lanes whose guard holds. What it emits
/// has no guard.
void for_offsets(Emit& e, ir::Operand total, uint32_t step,
                 const std::function<void(ir::Operand)>& body);

// --- what --check async is to know (notes.cpp) --------------------------------------------------
ir::Operand generic_address(Emit& e, const Located& place);
void note_bytes(Emit& e, ir::AsyncNote note, ir::AsyncKind kind, const Located& place,
                ir::Operand bytes);
/// Of groups: commit, or a wait.
void note_groups(Emit& e, ir::AsyncNote note, ir::AsyncKind kind, uint64_t younger = 0);
/// The copies before complete the mbarrier's phase.
void note_tracked(Emit& e, ir::AsyncKind kind, const Located& barrier);
void note_passed(Emit& e, const Located& barrier, ir::Reg passed);

// --- copies that wait for their wait (queue.cpp) ------------------------------------------------
/// A predicate, known at translation: copies are queued.
ir::Reg copies_wait(Emit& e);
/// The same, and the instruction's guard holds. Leaves no guard on what is emitted next.
ir::Reg waits_here(Emit& e);
/// Generic addresses; `read` of the bytes are read, the rest is 0.
struct QueuedCopy {
  ir::Operand source, target, bytes, read;
  ir::Operand reduction = imm(0);  ///< number_of()
};
/// Queues are those of AsyncKind::lane and bulk.
void queue_copy(Emit& e, ir::AsyncKind kind, const QueuedCopy& copy);
void end_copy_group(Emit& e, ir::AsyncKind kind);
/// All copies but those of the `younger` groups that were ended last, and of the one that is open.
void complete_copies(Emit& e, ir::AsyncKind kind, uint64_t younger);
/// By 16 bytes, between generic addresses.
void copy_bytes(Emit& e, ir::Operand source, ir::Operand target, ir::Operand bytes);

// --- copies that whoever asks for their mbarrier makes (reporting.cpp) --------------------------
/// False in lanes in which all entries are taken.
ir::Reg queue_reporting(Emit& e, const QueuedCopy& copy, ir::Operand barrier);
/// The same of a store of `values`, or a reduction by them: up to kReportingValueBytes.
ir::Reg queue_store(Emit& e, std::span<const ir::Operand> values, const Located& to,
                    ir::Operand barrier);
/// What reports to the mbarrier.
void complete_reporting(Emit& e, const Located& barrier);

// --- reductions (reductions.cpp) ----------------------------------------------------------------
/// Of memory's elements.
struct Reduction {
  ir::AtomOp op = ir::AtomOp::add;
  ir::Type number = ir::Type::u32, elem = ir::Type::u32;
  bool operator==(const Reduction&) const = default;
};
Reduction reduction_of(const Form& form);
void reduce_element(Emit& e, const Reduction& reduction, ir::Mem mem, ir::Operand target,
                    ir::Operand value);
/// The module has asynchronous reductions, which entries of queues may be.
bool reduces_late(const Emit& e);
/// The instruction's, from 1 on; 0 of a copy.
ir::Operand number_of(Emit& e);
/// Makes the reduction of that number, if it is one; `space`: where its target lies.
void reduce_bytes(Emit& e, ir::Operand number, const QueuedCopy& copy, ir::Space space);

// The instructions.
void mbarrier_init(Emit& e);
void mbarrier_inval(Emit& e);
void mbarrier_arrive(Emit& e);
void mbarrier_transfer(Emit& e);
void mbarrier_wait(Emit& e);
void mbarrier_pending(Emit& e);
void mbarrier_after_copies(Emit& e);
void copy_bulk(Emit& e);
void end_bulk_group(Emit& e);
void wait_bulk(Emit& e);
void prefetch_bulk(Emit& e);
void store_async(Emit& e);
void reduce_async(Emit& e);
void copy_async(Emit& e);
void wait_async(Emit& e);
void judge_copy_async(legal::Context& c);

}  // namespace lanewise::ptx
