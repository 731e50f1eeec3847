// Barriers in memory, and copies that report to them. Copies complete at once, which every program
// must expect; what a program observes of them is bytes in place and changed barriers.
#pragma once

#include <functional>

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

// --- copies that wait for their wait (queue.cpp) ------------------------------------------------
/// A predicate, known at translation: copies are queued.
ir::Reg copies_wait(Emit& e);
/// Addresses with their offsets; `read` of the bytes are read, the rest is 0.
struct QueuedCopy {
  ir::Operand source, target, read;
  uint32_t bytes = 0;
};
void queue_copy(Emit& e, const QueuedCopy& copy);
void end_copy_group(Emit& e);
/// All copies but those of the `younger` groups that were ended last, and of the one that is open.
void complete_copies(Emit& e, uint64_t younger);

// The instructions.
void mbarrier_init(Emit& e);
void mbarrier_inval(Emit& e);
void mbarrier_arrive(Emit& e);
void mbarrier_transfer(Emit& e);
void mbarrier_wait(Emit& e);
void mbarrier_pending(Emit& e);
void mbarrier_after_copies(Emit& e);
void copy_bulk(Emit& e);
void prefetch_bulk(Emit& e);
void store_async(Emit& e);
void reduce_async(Emit& e);

}  // namespace lanewise::ptx
