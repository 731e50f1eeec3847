#include "runtime/isa/gcn/lowering/analysis/wave_step.hpp"

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {
namespace {

enum Access : unsigned { kNoAccess = 0, kRead = 1, kWrite = 2, kAtomic = 4 };

unsigned access_of(const Instruction& i, const Kernel& k) {
  const Kind kind = i.row->kind;
  const bool to_lds = is_buffer(i.row->encoding) && i.lds;
  if (to_lds) return kWrite;
  if (i.row->encoding == Encoding::mubuf && kind == Kind::store && !i.row->has(Slot::vdata))
    return kRead;  // from LDS to memory
  const bool flat = i.row->encoding == Encoding::flat && k.group_bytes != 0;
  if (i.row->encoding != Encoding::ds && !flat) return kNoAccess;
  if (i.row->reads_second_place()) return kRead | kAtomic;
  return kind == Kind::load     ? kRead
         : kind == Kind::store  ? kWrite
         : kind == Kind::atomic ? kAtomic
                                : kNoAccess;
}

bool commutes(ir::AtomOp op) {
  using enum ir::AtomOp;
  return op == add || op == sub || op == min || op == max || op == and_ || op == or_ || op == xor_;
}

/// What lanes have done to LDS since all of them were at one place.
struct LdsUse {
  unsigned access = kNoAccess;
  const Row* atomic = nullptr;  ///< with kAtomic: the row of all of them, null = several

  bool operator==(const LdsUse&) const = default;
  void join(const LdsUse& other) {
    if (other.access == kNoAccess) return;
    const bool one = (access & kAtomic) == 0, none = (other.access & kAtomic) == 0;
    if (!none) atomic = one || atomic == other.atomic ? other.atomic : nullptr;
    access |= other.access;
  }
};

/// Reads need no order among themselves, nor do atomic operations of one kind whose order does not
/// show: it shows in old values, and in operations that do not commute.
bool meets(const LdsUse& before, const LdsUse& now) {
  if ((now.access & kWrite) != 0 && before.access != 0) return true;
  if ((now.access & kRead) != 0 && (before.access & (kWrite | kAtomic)) != 0) return true;
  if ((now.access & kAtomic) == 0) return false;
  if ((before.access & (kRead | kWrite)) != 0) return true;
  if ((before.access & kAtomic) == 0) return false;
  return now.atomic != before.atomic || now.atomic == nullptr || now.atomic->has(Slot::vdst) ||
         !commutes(now.atomic->meaning.atom);
}

bool orders_itself(const Kernel& k, const Analysis& a) {
  if (k.state.bare) return true;
  for (const BasicBlock& b : a.blocks)
    for (size_t n = b.begin; b.reached && n < b.end; ++n)
      if (k.code[n].row->lower == lower_barrier) return true;
  return false;
}

}  // namespace

std::vector<bool> wave_steps(const Kernel& k, const Analysis& a) {
  std::vector<bool> out(k.code.size());
  if (orders_itself(k, a)) return out;
  std::vector<LdsUse> in(a.blocks.size());
  // Accesses only ever join: a fixed point is reached after a few rounds.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = 0; n < a.blocks.size(); ++n) {
      const BasicBlock& b = a.blocks[n];
      if (!b.reached) continue;
      LdsUse pending = in[n];
      for (size_t i = b.begin; i < b.end; ++i) {
        const LdsUse now{access_of(k.code[i], k), k.code[i].row};
        if (meets(pending, now)) {
          out[i] = true;
          pending = {};
        }
        pending.join(now);
      }
      for (const size_t s : b.successors) {
        const LdsUse before = in[s];
        in[s].join(pending);
        changed = changed || in[s] != before;
      }
    }
  }
  return out;
}

bool wants_whole_waves(const Kernel& k) {
  bool looks_at_lanes = false, turns_all_on = false;
  for (const Instruction& i : k.code) {
    const Row& row = *i.row;
    const bool picks_lane = row.kind == Kind::across && row.has(Slot::ssrc1);
    if (picks_lane && row.has(Slot::vdst)) return !k.state.bare;
    looks_at_lanes = looks_at_lanes || picks_lane || i.form == Form::dpp;
    const Operand* to = i.operand(Slot::sdst);
    const Operand* from = i.operand(Slot::ssrc0);
    const bool writes_exec = row.does(kWritesExec) || (to != nullptr && to->code == kExecLo);
    if (writes_exec && from != nullptr && from->code == kMinusOne) turns_all_on = true;
  }
  return looks_at_lanes && turns_all_on && !k.state.bare;
}

}  // namespace lanewise::gcn
