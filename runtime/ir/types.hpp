// The vocabulary of the IR: types, conditions, rounding, spaces, orderings, cache policy.
//
// Registers are untyped bits of three widths (pred, b32, b64). What the bits mean is stated by each
// instruction's Type. 8- and 16-bit guest values (integers and f16) live in b32 registers with the
// upper bits zero unless an instruction says otherwise, so no engine needs narrow registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanewise::ir {

enum class Width : uint8_t { pred, b32, b64 };

/// bf16 is a type of atomics alone: no arithmetic is done in it.
enum class Type : uint8_t { none, pred, u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64, bf16 };

constexpr Width width_of(Type t) {
  if (t == Type::pred) return Width::pred;
  return t == Type::u64 || t == Type::s64 || t == Type::f64 ? Width::b64 : Width::b32;
}
/// Size in memory, bytes (pred has none).
constexpr unsigned size_of(Type t) {
  constexpr uint8_t kBytes[] = {0, 0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return kBytes[static_cast<size_t>(t)];
}
constexpr bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
constexpr bool is_float(Type t) {
  return t == Type::f16 || t == Type::f32 || t == Type::f64;
}

/// Integer compares use eq..ge (signedness from the type). Float compares: eq..ge are ordered
/// (false on NaN, `ne` too), equ..geu are true on NaN, num = neither is NaN, nan = at least one is.
enum class Cond : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

/// rn nearest even, rz toward zero, rm toward -inf, rp toward +inf, rna nearest, ties away.
enum class Round : uint8_t { rn, rz, rm, rp, rna };

/// `code`: addresses, for cachectl. Loads and stores of it, the host's, reach the launch's record.
enum class Space : uint8_t { generic, global, shared, local, constant, param, code };

/// Addresses are 64 bits wide and reach the arena.
constexpr bool wide_space(Space space) {
  return space == Space::global || space == Space::generic || space == Space::constant ||
         space == Space::code;
}

/// What happens when an address is not a multiple of the access's alignment:
/// trap = fault `misaligned` (load 0, store dropped); force = low address bits dropped; any =
/// allowed.
enum class AlignRule : uint8_t { trap, force, any };

enum class Order : uint8_t { weak, relaxed, volatile_, mmio, acquire, release, acq_rel, seq_cst };
enum class Scope : uint8_t { none, cta, cluster, gpu, sys };

/// Cache operator as the guest spells it; a hint that never changes a value.
enum class CacheOp : uint8_t { none, ca, cg, cs, lu, cv, ci, nc, wb, wt };
enum class EvictPriority : uint8_t { none, normal, unchanged, first, last, no_allocate };

enum class AtomOp : uint8_t {
  add,
  sub,
  rsub,
  min,
  max,
  inc,
  dec,
  and_,
  or_,
  xor_,
  exch,
  cas,
  fcas,
  mskor,  ///< (old & ~first) | second
  wrap,   ///< old >= first ? old - first : old + second, unsigned
  arrive  ///< u64, the state of a PTX mbarrier (ir/mbarrier.hpp): the value is what changes
};
/// Operations of two values.
constexpr bool takes_two(AtomOp op) {
  return op >= AtomOp::cas && op <= AtomOp::wrap;
}

/// Value of Inst::mode for Op::sreg.
enum class SReg : uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  dynamic_smem_size,
  total_smem_size,
  param_base,  ///< b64 guest address of the parameter block (GCN kernarg pointer)
  linear_tid,  ///< tid.x + ntid.x * (tid.y + ntid.y * tid.z)
  shared_window,
  local_window,  ///< b64 generic base address of the window
  written_map    ///< b64 where the map of written bytes begins (passes/written.hpp), for the passes
};

/// Whether an access is legal without being asked about.
enum class Certain : uint8_t {
  no,
  guarded,     ///< where its guard holds
  everywhere,  ///< whatever its guard says
};

/// Value of Inst::mode for Op::fmin and Op::fmax.
enum class ExtremeMode : uint8_t {
  number,    ///< a NaN operand loses
  nan,       ///< a NaN operand wins
  any_zero,  ///< as `number`, but of zeros either one
};

/// Value of Inst::mode for Op::ffma.
enum class FmaMode : uint8_t {
  plain,
  exact_product,  ///< the product is a number of the type: where it is rounded does not matter
};

/// Bits of Inst::mode for Op::check.
enum class CheckMode : uint8_t {
  negate = 1,  ///< of the predicate, src1
  write = 2,
  atomic = 4,     ///< local memory has no atomics
  unwritten = 8,  ///< where the predicate holds, bytes are read that nobody wrote: a fault
};

/// What Op::async_note states of copies that complete later (--check async): the bytes that the
/// next one of the lane reads or writes, and who waits for which.
enum class AsyncNote : uint8_t {
  read,
  write,
  reduce,     ///< atomically; all three: address, bytes
  commit,     ///< the open group of the lane ends
  wait,       ///< for all groups but that many younger ones
  wait_read,  ///< the same, until their sources have been read
  track,      ///< the mbarrier at the address completes behind the copies
  passed      ///< the lane has seen the mbarrier's phase end
};
/// Whom Op::async_note is about: copies of cp.async, bulk copies with groups, copies with an
/// mbarrier of their own.
enum class AsyncKind : uint8_t { lane, bulk, barrier };

/// Value of Inst::mode for Op::barrier.
enum class BarrierKind : uint8_t {
  sync,
  arrive,
  red_popc,
  red_and,
  red_or,
  yield  ///< waits for nobody: others of the group have their turn (yield.hpp)
};

/// Value of Inst::mode for Op::mov of a constant: what a launch's policies may put in its place.
/// The constant is the front end's answer, which holds where no policy says otherwise.
enum class Choice : uint8_t {
  none,
  stack_end,          ///< the place behind the stack in local memory (policy stack)
  stack_lane,         ///< bytes of private memory of a lane, GCN (policy stack)
  stack_wave,         ///< the same, of a wave
  copies_late,        ///< pred: asynchronous copies wait in queues (policy async.copy)
  copy_area,          ///< where the lane's queue of cp.async lies in local memory
  bulk_area,          ///< the same, of bulk copies with groups
  reporting_entries,  ///< entries of the group's queue of copies that report to an mbarrier
  sparse_absent,      ///< pred: sparse loads find their page absent (policy sass.sparse)
  lds_offset_mask,    ///< bits of an instruction's offset that count in LDS (gcn.lds_inst_offset)
  lds_extend_mask,    ///< bits that a signed load to LDS keeps (gcn.lds_extend)
};

/// Value of Inst::mode for Op::shfl.
enum class ShflMode : uint8_t { up, down, bfly, idx };

/// Value of Inst::mode for Op::prmt (default: each selector nibble picks a byte, bit 3 = sign).
enum class PrmtMode : uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };

/// Value of Inst::mode for Op::cachectl: what is done to the line that holds the address.
enum class CacheCtl : uint8_t {
  prefetch_l1,
  prefetch_l15,
  prefetch_l2,
  prefetch_l2_evict_last,
  prefetch_l2_evict_normal,
  write_back,
  invalidate,
  invalidate_all,
  reset,
  write_back_all,
  demote_normal /* applypriority */,
  discard,
  policy_word  ///< no guest instruction: gives a trace the word of the .L2::cache_hint that follows
};

/// Bits of Inst::mode for the operations fmt_*.
enum class FormatMode : uint8_t {
  d16 = 1,                ///< registers hold 16-bit values
  gfx8 = 2,               ///< number format 6 is reserved
  store = 4,              ///< fmt_legal: for writing
  out_of_range_zero = 8,  ///< DST_SEL_1 gives 0 as well
  missing_zero = 16,      ///< A of a format without A is 0
  toward_zero = 32,       ///< floats to narrower floats; else nearest even
  truncate = 64,          ///< integers lose their high bits; else they are clamped
  signed_alpha = 128,     ///< W of 2_10_10_10 is signed where the format is
};

std::string_view name(Width);
std::string_view name(Type);
std::string_view name(Cond);
std::string_view name(Round);
std::string_view name(Space);
std::string_view name(AlignRule);
std::string_view name(Order);
std::string_view name(Scope);
std::string_view name(CacheOp);
std::string_view name(EvictPriority);
std::string_view name(AtomOp);
std::string_view name(SReg);
std::string_view name(BarrierKind);
std::string_view name(ShflMode);
std::string_view name(Choice);
std::string_view name(CacheCtl);

}  // namespace lanewise::ir
